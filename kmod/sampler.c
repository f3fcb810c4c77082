// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "sampler.h"

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/printk.h>
#include <linux/random.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include "counters.h"
#include "drain.h"
#include "sampler_cpu.h"
#include "snapshots.h"
#include "stats.h"
#include "store_memory.h"

enum sampler_state {
	SAMPLER_NEW,	 /* never started */
	SAMPLER_RUNNING, /* counters count */
	SAMPLER_STOPPED, /* samples may wait for the reader */
	SAMPLER_LEFT,	 /* the reader has gone; the counters can be read */
};

static DEFINE_PER_CPU_ALIGNED(struct sampler_cpu, sampled_cpus);
static DEFINE_MUTEX(lock); /* protects everything below, and sampled_cpus; see sampler_cpu.h */
static enum sampler_state state;
static struct dcpi_config config;

static DECLARE_WAIT_QUEUE_HEAD(waiters);
static int hotplug_state;

static struct sampler_cpu *sampled_cpu(unsigned int cpu)
{
	return per_cpu_ptr(&sampled_cpus, cpu);
}

static void wake_readers(struct irq_work *work)
{
	wake_up_interruptible_poll(&waiters, EPOLLIN | EPOLLRDNORM);
}

static void events_init(unsigned int cpu, struct sampler_cpu *sampled)
{
	u32 i;

	for (i = 0; i < config.events; i++) {
		struct sampler_event *event = &sampled->event[i];

		period_init(&event->period, config.seed + cpu * DCPI_EVENTS_MAX + i,
			    config.event[i].period_min, config.event[i].period_max);
		event->tag = dcpi_tag(0, 0, i);
		event->cpu = sampled;
	}
	sampled->twice.left = sampled->twice.every = config.double_every;
	sampled->twice.period = config.double_period;
}

static void memory_release(struct sampler_cpu *sampled)
{
	examine_release(sampled);
	snapshots_release(sampled);
	store_memory_release(sampled);
}

/* All of a CPU's memory, or none. */
static int memory_allocate(unsigned int cpu, struct sampler_cpu *sampled)
{
	int err = store_memory_allocate(cpu, sampled, config.table_entries, config.buffer_entries);

	if (!err && config.flags & DCPI_START_BRANCHES)
		err = examine_allocate(cpu, sampled, config.branch_every);
	if (!err && config.flags & DCPI_START_SNAPSHOTS)
		err = snapshots_allocate(cpu, sampled);
	if (err)
		memory_release(sampled);
	return err;
}

/* A CPU that goes offline during the call is no error. */
static int cpu_start(unsigned int cpu)
{
	struct sampler_cpu *sampled = sampled_cpu(cpu);
	int err = 0;

	if (!sampled->table) {
		err = memory_allocate(cpu, sampled);
		if (!err)
			events_init(cpu, sampled);
	}
	/* Cleared first: if the CPU goes offline and returns meanwhile, it becomes stale again. */
	WRITE_ONCE(sampled->stale, false);
	if (!err)
		err = counters_create(cpu, sampled, &config);
	/* perf returns -ENODEV for a CPU that is just going offline or coming online; see below. */
	return err == -ENODEV || !cpu_online(cpu) ? 0 : err;
}

static bool cpu_sampled(unsigned int cpu, const struct sampler_cpu *sampled)
{
	return sampled->event[0].counter && !READ_ONCE(sampled->stale) && cpu_online(cpu);
}

/* Count samples that were not drained as lost, and free the store. */
static void store_forget(struct sampler_cpu *sampled)
{
	struct sample_totals pending;

	if (!sampled->table)
		return;
	pending = sample_store_pending_totals(&sampled->store);
	sampled->store.lost[DCPI_LOSS_READER_GONE] += pending.samples;
	sampled->edges_gone += pending.edges;
	sampled->snapshots_gone += sampled->snapshots.head - sampled->snapshots.tail;
	memory_release(sampled);
}

/* Reset all counts. Neither memory nor counters may exist. */
static void counts_clear(struct sampler_cpu *sampled)
{
	memset(&sampled->store, 0, sizeof(sampled->store));
	memset(sampled->event, 0, sizeof(sampled->event));
	memset(&sampled->twice, 0, sizeof(sampled->twice));
	memset(&sampled->times, 0, sizeof(sampled->times));
	sampled->delivered = 0;
	sampled->delivered_edges = 0;
	sampled->delivered_entries = 0;
	sampled->edges_gone = 0;
	sampled->snapshots_gone = 0;
	memset(&sampled->examined, 0, sizeof(sampled->examined));
}

/*
 * Running handlers must have returned before their samples are counted, the store is freed or the
 * counter is replaced. Handlers in interrupts have returned when their counter is removed; software
 * events run their handlers under RCU.
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
		store_forget(sampled_cpu(cpu));
	if (state == SAMPLER_STOPPED)
		state = SAMPLER_LEFT;
}

static bool any_sampled(void)
{
	unsigned int cpu;

	for_each_possible_cpu (cpu) {
		if (sampled_cpu(cpu)->event[0].counter)
			return true;
	}
	return false;
}

static int cpus_start(void)
{
	unsigned int cpu;
	int err;

	for_each_online_cpu (cpu) {
		err = cpu_start(cpu);
		if (err)
			return err;
	}
	return any_sampled() ? 0 : -ENODEV;
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
	err = cpus_start();
	if (err) {
		session_end();
		state = SAMPLER_NEW;
	}
	return err;
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

/* Check a CPU number from user space, also against speculation. */
static struct sampler_cpu *sampled_cpu_checked(u32 cpu)
{
	if (cpu >= nr_cpu_ids || !cpu_possible(cpu))
		return NULL;
	return sampled_cpu(array_index_nospec(cpu, nr_cpu_ids));
}

/* Return true if there may be samples to take. */
static bool session_open(void)
{
	return state == SAMPLER_RUNNING || state == SAMPLER_STOPPED;
}

static int drain_locked(const struct dcpi_drain *request, u32 __user *count)
{
	struct sampler_cpu *sampled = sampled_cpu_checked(request->cpu);
	u32 needed = config.buffer_entries;

	if (!session_open())
		return -ENXIO;
	if (request->flags & DCPI_DRAIN_ALL)
		needed = config.table_entries + 2 * config.buffer_entries;
	if (!sampled || request->flags & ~DCPI_DRAIN_ALL || request->capacity < needed)
		return -EINVAL;
	if (!sampled->table)
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

static int take_locked(struct dcpi_take *take)
{
	struct sampler_cpu *sampled = sampled_cpu_checked(take->cpu);

	if (!session_open())
		return -ENXIO;
	if (!sampled || take->flags)
		return -EINVAL;
	take->first = 0;
	take->count = 0;
	if (sampled->table)
		drain_take(sampled, take);
	return 0;
}

int sampler_take(struct dcpi_take *take)
{
	int err;

	mutex_lock(&lock);
	err = take_locked(take);
	mutex_unlock(&lock);
	return err;
}

static int release_locked(u32 cpu)
{
	struct sampler_cpu *sampled = sampled_cpu_checked(cpu);

	if (!session_open())
		return -ENXIO;
	if (!sampled)
		return -EINVAL;
	return sampled->table ? drain_release(sampled) : -EAGAIN;
}

int sampler_release(u32 cpu)
{
	int err;

	mutex_lock(&lock);
	err = release_locked(cpu);
	mutex_unlock(&lock);
	return err;
}

int sampler_map(u32 cpu, struct vm_area_struct *vma)
{
	struct sampler_cpu *sampled = sampled_cpu_checked(cpu);

	return sampled ? store_memory_map(sampled, vma) : -EINVAL;
}

/* Set *@ret to the state of a CPU whose counters can be read. */
static int counted_cpu(u32 cpu, struct sampler_cpu **ret)
{
	if (state == SAMPLER_NEW)
		return -ENXIO;
	*ret = sampled_cpu_checked(cpu);
	return *ret ? 0 : -EINVAL;
}

int sampler_stats(struct dcpi_stats *stats)
{
	struct sampler_cpu *sampled;
	int err;

	mutex_lock(&lock);
	err = counted_cpu(stats->cpu, &sampled);
	if (!err) {
		stats->online = cpu_sampled(stats->cpu, sampled);
		stats_fill(sampled, stats);
	}
	mutex_unlock(&lock);
	return err;
}

int sampler_event_stats(struct dcpi_event_stats *stats)
{
	struct sampler_cpu *sampled;
	u32 event = stats->event;
	int err;

	mutex_lock(&lock);
	err = counted_cpu(stats->cpu, &sampled);
	if (!err && event >= config.events)
		err = -EINVAL;
	if (!err) {
		stats->event = array_index_nospec(event, DCPI_EVENTS_MAX);
		stats_fill_event(sampled, stats);
	}
	mutex_unlock(&lock);
	return err;
}

int sampler_times(struct dcpi_times *times)
{
	struct sampler_cpu *sampled;
	int err;

	mutex_lock(&lock);
	err = counted_cpu(times->cpu, &sampled);
	if (!err)
		stats_fill_times(sampled, times);
	mutex_unlock(&lock);
	return err;
}

static int snapshots_locked(struct dcpi_snapshots *request)
{
	struct sampler_cpu *sampled;
	int err = counted_cpu(request->cpu, &sampled);

	return err ? err : snapshots_read(sampled, request);
}

int sampler_snapshots(struct dcpi_snapshots *request)
{
	int err;

	mutex_lock(&lock);
	err = snapshots_locked(request);
	mutex_unlock(&lock);
	return err;
}

bool sampler_readable(void)
{
	struct sample_chunk chunk;
	unsigned int cpu;

	for_each_possible_cpu (cpu) {
		struct sampler_cpu *sampled = sampled_cpu(cpu);

		if (!READ_ONCE(sampled->table))
			continue;
		if (sample_store_full(&sampled->store, &chunk) >= 0 ||
		    snapshot_ring_is_half_full(&sampled->snapshots))
			return true;
	}
	return false;
}

wait_queue_head_t *sampler_waiters(void)
{
	return &waiters;
}

/* A CPU that becomes stale during the call has queued the work again. */
static void counters_replace(void)
{
	unsigned int cpu;
	int err;

	for_each_online_cpu (cpu) {
		if (!cpu_sampled(cpu, sampled_cpu(cpu)))
			counters_release(sampled_cpu(cpu));
	}
	synchronize_rcu(); /* as in counters_stop() */
	for_each_online_cpu (cpu) {
		if (sampled_cpu(cpu)->event[0].counter)
			continue;
		err = cpu_start(cpu);
		if (err)
			pr_warn("CPU %u came online but cannot be sampled: %d\n", cpu, err);
	}
}

/* Give counters to CPUs that came online. */
static void follow_hotplug(struct work_struct *work)
{
	mutex_lock(&lock);
	if (state == SAMPLER_RUNNING)
		counters_replace();
	mutex_unlock(&lock);
}

static DECLARE_WORK(hotplug_work, follow_hotplug);

/*
 * perf detaches the counters of a CPU that goes offline. They remain, inactive, until they are
 * replaced here or released at the end. Creating counters may take cpu_hotplug_lock, which a
 * hotplug callback must not do, so a work item creates them.
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
