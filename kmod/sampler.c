// SPDX-License-Identifier: GPL-2.0-only
#include "sampler.h"

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include "drain.h"
#include "sampler_cpu.h"

enum sampler_state {
	SAMPLER_NEW,	 /* never started */
	SAMPLER_RUNNING, /* counters count */
	SAMPLER_STOPPED, /* samples may wait for the reader */
	SAMPLER_LEFT,	 /* the reader has gone, its counters can be read */
};

static DEFINE_PER_CPU_ALIGNED(struct sampler_cpu, sampled_cpus);
static DEFINE_MUTEX(lock); /* protects all below, and sampled_cpus; see sampler_cpu.h */
static enum sampler_state state;
static struct dcpi_config config;

static DECLARE_WAIT_QUEUE_HEAD(waiters);
static int hotplug_state;

static struct sampler_cpu *sampled_cpu(unsigned int cpu)
{
	return per_cpu_ptr(&sampled_cpus, cpu);
}

/*
 * Runs at every sample, in any context. The period drawn here is the one after
 * the period that perf has begun already, or the next, depending on the PMU.
 */
static void overflow(struct perf_event *counter, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	struct sampler_event *event = counter->overflow_handler_context;
	u64 tag = event->tag | dcpi_tag(task_tgid_nr(current), current->self_exec_id, 0);
	u64 period = period_next(&event->period);

	local_inc(&event->interrupts);
	event->period_sum += period;
	counter->hw.sample_period = period;
	if (unlikely(sample_store_count(&event->cpu->store, instruction_pointer(regs), tag) &
		     SAMPLE_WAKE))
		irq_work_queue(&event->cpu->wake);
}

static void wake_readers(struct irq_work *work)
{
	wake_up_interruptible_poll(&waiters, EPOLLIN | EPOLLRDNORM);
}

static void counters_release(struct sampler_cpu *sampled)
{
	u32 i;

	for (i = 0; i < DCPI_EVENTS_MAX; i++) {
		if (!sampled->event[i].counter)
			continue;
		perf_event_release_kernel(sampled->event[i].counter);
		sampled->event[i].counter = NULL;
	}
}

/*
 * Not pinned: with more events than counters perf takes turns, where a pinned
 * event would fail for good. Idle and kernel are sampled like everything else.
 */
static struct perf_event *counter_create(unsigned int cpu, struct sampler_event *event,
					 const struct dcpi_event *description)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = description->type,
		.config = description->config,
		.config1 = description->config1,
		.config2 = description->config2,
		.sample_period = period_next(&event->period),
		.exclude_user = !!(description->flags & DCPI_EVENT_EXCLUDE_USER),
		.exclude_kernel = !!(description->flags & DCPI_EVENT_EXCLUDE_KERNEL),
		.exclude_hv = 1,
		.exclude_guest = 1,
	};

	event->period_sum += attr.sample_period;
	return perf_event_create_kernel_counter(&attr, (int)cpu, NULL, overflow, event);
}

static int counters_create(unsigned int cpu, struct sampler_cpu *sampled)
{
	struct perf_event *counter;
	u32 i;

	/* First: should the CPU leave and return meanwhile, it is stale again. */
	WRITE_ONCE(sampled->stale, false);
	for (i = 0; i < config.events; i++) {
		counter = counter_create(cpu, &sampled->event[i], &config.event[i]);
		if (IS_ERR(counter)) {
			counters_release(sampled);
			return (int)PTR_ERR(counter);
		}
		sampled->event[i].counter = counter;
	}
	return 0;
}

static int memory_allocate(unsigned int cpu, struct sampler_cpu *sampled)
{
	size_t bytes = sample_store_bytes(config.table_entries, config.buffer_entries);
	void *memory;
	u32 i;
	int err;

	/* Whole pages, contiguous if there are any: aligned, and few TLB misses. */
	memory = kvzalloc_node(PAGE_ALIGN(bytes), GFP_KERNEL, cpu_to_node(cpu));
	if (!memory)
		return -ENOMEM;
	err = sample_store_init(&sampled->store, memory, config.table_entries,
				config.buffer_entries);
	if (err) {
		kvfree(memory);
		return err;
	}
	for (i = 0; i < config.events; i++) {
		struct sampler_event *event = &sampled->event[i];

		period_init(&event->period, config.seed + cpu * DCPI_EVENTS_MAX + i,
			    config.event[i].period_min, config.event[i].period_max);
		event->tag = dcpi_tag(0, 0, i);
		event->cpu = sampled;
	}
	WRITE_ONCE(sampled->memory, memory);
	return 0;
}

/* A CPU that leaves while we are at it is none of ours any more. */
static int cpu_start(unsigned int cpu)
{
	struct sampler_cpu *sampled = sampled_cpu(cpu);
	int err = 0;

	if (!sampled->memory)
		err = memory_allocate(cpu, sampled);
	if (!err)
		err = counters_create(cpu, sampled);
	return err && !cpu_online(cpu) ? 0 : err;
}

static bool cpu_sampled(unsigned int cpu, const struct sampler_cpu *sampled)
{
	return sampled->event[0].counter && !READ_ONCE(sampled->stale) && cpu_online(cpu);
}

/* What was not drained is lost, by name. */
static void memory_release(struct sampler_cpu *sampled)
{
	void *memory = sampled->memory;

	if (!memory)
		return;
	sampled->store.lost[DCPI_LOSS_READER_GONE] += sample_store_pending(&sampled->store);
	WRITE_ONCE(sampled->memory, NULL);
	kvfree(memory);
}

static void counts_clear(struct sampler_cpu *sampled)
{
	memset(&sampled->store, 0, sizeof(sampled->store));
	memset(sampled->event, 0, sizeof(sampled->event));
	sampled->delivered = 0;
	sampled->delivered_entries = 0;
}

/*
 * A handler on its way must have returned before its samples are counted or
 * its store is freed. Those in interrupts have when their counter is removed;
 * software events run their handlers under RCU.
 */
static void counters_stop(void)
{
	unsigned int cpu;

	if (state != SAMPLER_RUNNING)
		return;
	for_each_possible_cpu (cpu)
		counters_release(sampled_cpu(cpu));
	synchronize_rcu();
	for_each_possible_cpu (cpu)
		irq_work_sync(&sampled_cpu(cpu)->wake);
	state = SAMPLER_STOPPED;
}

static void session_end(void)
{
	unsigned int cpu;

	counters_stop();
	for_each_possible_cpu (cpu)
		memory_release(sampled_cpu(cpu));
	if (state == SAMPLER_STOPPED)
		state = SAMPLER_LEFT;
}

static int session_begin(void)
{
	unsigned int cpu;
	int err;

	for_each_possible_cpu (cpu)
		counts_clear(sampled_cpu(cpu));
	if (config.seed == 0)
		config.seed = get_random_u32();
	state = SAMPLER_RUNNING;
	for_each_online_cpu (cpu) {
		err = cpu_start(cpu);
		if (err) {
			session_end();
			state = SAMPLER_NEW;
			return err;
		}
	}
	return 0;
}

int sampler_start(const struct dcpi_config *wanted)
{
	int err = -EBUSY;

	mutex_lock(&lock);
	if (state != SAMPLER_RUNNING) {
		session_end();
		config = *wanted;
		err = session_begin();
	}
	mutex_unlock(&lock);
	return err;
}

void sampler_stop(void)
{
	mutex_lock(&lock);
	counters_stop();
	mutex_unlock(&lock);
}

void sampler_leave(void)
{
	mutex_lock(&lock);
	session_end();
	mutex_unlock(&lock);
}

/* Checks a CPU number of user space's, also against speculation. */
static struct sampler_cpu *sampled_cpu_checked(u32 cpu)
{
	if (cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return NULL;
	return sampled_cpu(array_index_nospec(cpu, nr_cpu_ids));
}

static int drain_locked(const struct dcpi_drain *request, u32 __user *count)
{
	struct sampler_cpu *sampled = sampled_cpu_checked(request->cpu);
	u32 needed = config.buffer_entries;

	if (state != SAMPLER_RUNNING && state != SAMPLER_STOPPED)
		return -ENXIO;
	if (request->flags & DCPI_DRAIN_ALL)
		needed = config.table_entries + 2 * config.buffer_entries;
	if (!sampled || request->flags & ~DCPI_DRAIN_ALL || request->capacity < needed)
		return -EINVAL;
	if (!sampled->memory)
		return put_user(0, count);
	return drain_cpu(sampled, request, count);
}

int sampler_drain(const struct dcpi_drain *request, u32 __user *count)
{
	int err;

	mutex_lock(&lock);
	err = drain_locked(request, count);
	mutex_unlock(&lock);
	return err;
}

static int stats_locked(struct dcpi_stats *stats)
{
	struct sampler_cpu *sampled = sampled_cpu_checked(stats->cpu);
	u32 i;

	if (state == SAMPLER_NEW)
		return -ENXIO;
	if (!sampled)
		return -EINVAL;
	for (i = 0; i < DCPI_EVENTS_MAX; i++) {
		stats->interrupts += (u64)local_read(&sampled->event[i].interrupts);
		stats->period_sum += sampled->event[i].period_sum;
	}
	for (i = 0; i < DCPI_LOSS_NR; i++)
		stats->losses[i] = sampled->store.lost[i];
	stats->online = cpu_sampled(stats->cpu, sampled);
	stats->hits = sampled->store.hits;
	stats->misses = sampled->store.misses;
	stats->evictions = sampled->store.evictions;
	stats->direct = sampled->store.direct;
	stats->flips = sampled->store.flips;
	stats->delivered = sampled->delivered;
	stats->delivered_entries = sampled->delivered_entries;
	if (sampled->memory)
		stats->pending = sample_store_pending(&sampled->store);
	return 0;
}

int sampler_stats(struct dcpi_stats *stats)
{
	int err;

	mutex_lock(&lock);
	err = stats_locked(stats);
	mutex_unlock(&lock);
	return err;
}

bool sampler_readable(void)
{
	struct sample_chunk chunk;
	unsigned int cpu;

	for_each_possible_cpu (cpu) {
		struct sampler_cpu *sampled = sampled_cpu(cpu);

		if (READ_ONCE(sampled->memory) && sample_store_full(&sampled->store, &chunk) >= 0)
			return true;
	}
	return false;
}

wait_queue_head_t *sampler_waiters(void)
{
	return &waiters;
}

/* Give counters to CPUs that came online. */
static void follow_hotplug(struct work_struct *work)
{
	unsigned int cpu;
	int err;

	mutex_lock(&lock);
	for_each_online_cpu (cpu) {
		if (state != SAMPLER_RUNNING || cpu_sampled(cpu, sampled_cpu(cpu)))
			continue;
		counters_release(sampled_cpu(cpu));
		err = cpu_start(cpu);
		if (err)
			pr_warn("dcpi: CPU %u came online but cannot be sampled: %d\n", cpu, err);
	}
	mutex_unlock(&lock);
}

static DECLARE_WORK(hotplug_work, follow_hotplug);

/*
 * perf detaches the counters of a CPU that goes away; they stay, dead, until
 * replaced here or released at the end. Creating counters may take
 * cpu_hotplug_lock, which a hotplug callback must not: hence the work.
 */
static int cpu_came_online(unsigned int cpu)
{
	WRITE_ONCE(sampled_cpu(cpu)->stale, true);
	schedule_work(&hotplug_work);
	return 0;
}

int sampler_init(void)
{
	unsigned int cpu;

	for_each_possible_cpu (cpu)
		init_irq_work(&sampled_cpu(cpu)->wake, wake_readers);
	hotplug_state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "dcpi:online",
						  cpu_came_online, NULL);
	return hotplug_state < 0 ? hotplug_state : 0;
}

void sampler_exit(void)
{
	cpuhp_remove_state_nocalls(hotplug_state);
	cancel_work_sync(&hotplug_work);
}
