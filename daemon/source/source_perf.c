// SPDX-License-Identifier: GPL-2.0-only
/*
 * The perf source: samples from perf_event_open(), one ring per CPU and event, counted here in the
 * same kind of store that dcpi.ko has in the kernel.
 *
 * Periods and the losses "ring_full" and "ring_malformed": see daemon/source/perf_slot.h.
 *
 * Throttling: an event that reaches the kernel's limit takes no samples until the next tick
 * (daemon/collect/rate_limit.h). These samples were never taken, so they are not losses. But each
 * throttling gives the CPU's busy phases too little weight. Stat "throttled" counts how often; a
 * profile with more than a few should be repeated with longer periods. (A CPU that idles without
 * ticks may appear throttled by a clock event of any period. This affects only samples of the idle
 * phase, and of the time up to the next tick.)
 *
 * Register pairs: see daemon/source/register_pairs.h. They are made if edges are.
 *
 * Call stacks: see daemon/source/perf_stack.h.
 *
 * Edges: see daemon/source/perf_edges.h. With snapshots the kernel takes no samples that would
 * interrupt another BPF program, as with the bpf source. A sample without its edges is not a loss.
 */
#include "daemon/source/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/perf_edges.h"
#include "daemon/source/perf_registers.h"
#include "daemon/source/perf_slot.h"
#include "daemon/source/perf_stack.h"
#include "daemon/source/register_pairs.h"
#include "daemon/source/store_drain.h"
#include "daemon/source/trace_writer.h"
#include "kmod/core/sample_store.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/online_cpus.h"
#include "lib/probe_mark.h"
#include "lib/epoll_set.h"
#include "loader-hook/perf/ring_reader.h"

struct perf_cpu {
	struct sample_store store __attribute__((aligned(64)));
	void *memory;
	struct perf_slot slot[DCPI_EVENTS_MAX];
};

/*
 * @stopped: sampling was stopped and not started again
 * @cpus:    by number; NULL if the CPU was never online
 * @pairs:   NULL if edges are not wanted
 * @stacks:  NULL if call stacks are not wanted
 */
struct perf_source {
	struct source base;
	struct source_config config;
	struct source_event events[DCPI_EVENTS_MAX];
	struct online_cpus online;
	struct perf_cpu **cpus;
	struct epoll_set *wakes;
	struct ring_reader *reader;
	bool stopped;
	uint64_t seen;
	struct perf_edges edges;
	struct register_pairs *pairs;
	struct perf_stacks *stacks;
};

/*
 * A ring holds 8,192 samples, or 1,300 with registers. A thread empties it within a second
 * (loader-hook/perf/ring_reader.h). The events of a target share these pages. The reason is that an
 * unprivileged user may lock 129 pages for each CPU, and the side band needs some of them.
 */
#define RING_PAGES 64

/* Number of samples between prefetching a bucket and counting its sample. */
#define AHEAD 16

/*
 * State of one drain.
 * @ahead: a ring of samples of @cpu that are yet to be counted
 */
struct perf_drain {
	struct perf_source *source;
	struct perf_cpu *cpu;
	uint32_t number;
	uint32_t event;
	const struct source_sink *sink;
	struct dcpi_sample ahead[AHEAD];
	uint32_t oldest;
	uint32_t ahead_count;
};

static void oldest_count(struct perf_drain *drain)
{
	const struct dcpi_sample *sample = &drain->ahead[drain->oldest++ % AHEAD];

	drain->ahead_count--;
	if (sample_store_count(&drain->cpu->store, sample->pc, sample->tag) & SAMPLE_WAKE)
		store_drain_full(&drain->cpu->store, drain->sink);
}

static void ahead_count_all(struct perf_drain *drain)
{
	while (drain->ahead_count > 0)
		oldest_count(drain);
}

/*
 * Count edges in the store, like samples: looking up the image of an address costs more than that.
 */
static void edges_count(void *context, uint32_t cpu, const struct interpret_edge *edges,
			uint32_t count, uint64_t tag)
{
	const struct perf_drain *drain = context;
	const struct perf_source *source = drain->source;
	struct sample_store *store;

	if (cpu >= source->online.end || source->cpus[cpu] == NULL ||
	    !source_config_wants(&source->config, dcpi_tag_pid(tag)))
		return;
	store = &source->cpus[cpu]->store;
	for (uint32_t i = 0; i < count; i++) {
		if (sample_store_count_edge(store, edges[i].from, edges[i].to, tag) & SAMPLE_WAKE)
			store_drain_full(store, drain->sink);
	}
}

/* Edges of probes are few, and already aggregated. */
static void probed_edge(void *context, const struct source_edge *edge)
{
	const struct perf_drain *drain = context;

	drain->sink->edge(drain->sink->context, edge);
}

static void access_pass(void *context, const struct source_access *access)
{
	const struct perf_drain *drain = context;

	if (source_config_wants(&drain->source->config, dcpi_tag_pid(access->tag)))
		drain->sink->access(drain->sink->context, access);
}

static struct perf_edges_sink edges_sink(struct perf_drain *drain)
{
	return (struct perf_edges_sink){
		.behind = edges_count,
		.probed = probed_edge,
		.access = drain->sink->access != NULL ? access_pass : NULL,
		.context = drain,
	};
}

/* Set @pc to the address to count. */
static void sample_examine(struct perf_drain *drain, const struct perf_sample *sample, bool user,
			   uint32_t generation, uint64_t *pc)
{
	struct perf_source *source = drain->source;
	const struct perf_edges_sink sink = edges_sink(drain);
	struct dcpi_snapshot snapshot;

	perf_registers_read(&snapshot, sample);
	snapshot.cpu = drain->number;
	snapshot.event = drain->event;
	snapshot.generation = generation;
	if (user && drain->sink->edge != NULL) {
		perf_edges_record(&source->edges, &snapshot, &sink);
	} else if (!user && perf_edges_is_probe(&source->edges, &snapshot)) {
		*pc = probe_mark_set(*pc);
	}
	if (source->pairs == NULL || drain->sink->pair == NULL)
		return;
	/* Samples in the kernel have the registers of user mode, from before. */
	if (generation == 0)
		snapshot.known = 0;
	register_pairs_add(source->pairs, &snapshot, drain->sink->pair, drain->sink->context);
}

/*
 * Kernel addresses mean the same in every process and generation. Omitting the generation saves its
 * look-up and reduces the number of keys in the store; processes that are divided need it.
 */
static void sample_count(void *context, const struct perf_sample *sample)
{
	struct perf_drain *drain = context;
	const struct source_config *config = &drain->source->config;
	struct dcpi_sample *ahead;
	bool user =
		(sample->header.misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_KERNEL;
	uint64_t pc = sample->pc, tag;
	uint32_t generation = 0;

	if (!source_config_wants(config, sample->pid))
		return;
	if (user)
		generation = config->generation(config->context, sample->pid, sample->time_ns);
	if (perf_edges_registers(&drain->source->edges) != 0)
		sample_examine(drain, sample, user, generation, &pc);
	if (!user && config->divided != NULL && config->divided(config->context, sample->pid))
		generation = config->generation(config->context, sample->pid, sample->time_ns);
	tag = dcpi_tag(sample->pid, generation, drain->event);
	if (config->record != NULL)
		trace_writer_add(config->record, drain->number, sample->time_ns, pc, tag);
	drain->source->seen++;
	if (drain->ahead_count == AHEAD)
		oldest_count(drain);
	ahead = &drain->ahead[(drain->oldest + drain->ahead_count++) % AHEAD];
	ahead->pc = pc;
	ahead->tag = tag;
	sample_store_prefetch(&drain->cpu->store, ahead->pc, ahead->tag);
}

static uint32_t ring_pages(const struct source_config *config)
{
	uint32_t pages = RING_PAGES, events;

	for (events = config->event_count; config->target_pid != 0 && events > 1;
	     events -= events / 2)
		pages /= 2;
	return pages;
}

static int slot_open(struct perf_source *source, uint32_t cpu, uint32_t event, struct error *err)
{
	struct perf_slot *slot = &source->cpus[cpu]->slot[event];
	struct perf_slot_config config = {
		.event = &source->events[event],
		.number = event,
		.cpu = cpu,
		.target_pid = source->config.target_pid,
		.user_only = source->config.user_only,
		.registers = perf_edges_registers(&source->edges),
		.program_fd = perf_edges_program(&source->edges),
		.ring_pages = ring_pages(&source->config),
	};
	int rc;

	rc = perf_slot_open(slot, &config, err);
	return rc < 0 ? rc : ring_reader_add(source->reader, slot->event.ring, err);
}

static int cpu_allocate(struct perf_source *source, uint32_t number, struct error *err)
{
	uint32_t table = source->config.table_entries, buffer = source->config.buffer_entries;
	size_t bytes = sample_store_bytes(table, buffer);
	struct perf_cpu *cpu;
	void *memory;

	if (bytes == 0) {
		error_set(err, EINVAL,
			  "table_entries and buffer_entries must be powers of two in %d-%u",
			  DCPI_ENTRIES_MIN, DCPI_ENTRIES_MAX);
		return -EINVAL;
	}
	cpu = aligned_alloc(64, sizeof(*cpu));
	memory = aligned_alloc(64, bytes);
	if (cpu == NULL || memory == NULL) {
		free(memory);
		free(cpu);
		error_set(err, ENOMEM, ERROR_NO_MEMORY);
		return -ENOMEM;
	}
	memset(cpu, 0, sizeof(*cpu));
	cpu->memory = memory;
	memset(cpu->memory, 0, bytes);
	sample_store_init(&cpu->store, cpu->memory, table, buffer);
	source->cpus[number] = cpu;
	return 0;
}

static void cpu_close(struct perf_source *source, struct perf_cpu *cpu)
{
	uint32_t i;

	for (i = 0; cpu != NULL && i < source->config.event_count; i++) {
		ring_reader_remove(source->reader, cpu->slot[i].event.ring);
		perf_slot_close(&cpu->slot[i]);
	}
}

/* The rings of samples come first, because they share the limit of locked memory. */
static void stacks_open(struct perf_source *source)
{
	if (source->config.stack_every == 0 ||
	    perf_stacks_open(&source->stacks, &source->config, source->online.end, NULL) < 0)
		return;
	for (uint32_t cpu = 0; cpu < source->online.end; cpu++) {
		if (online_cpus_has(&source->online, cpu))
			perf_stacks_cpu_open(source->stacks, cpu);
	}
}

/* A CPU that was offline keeps its store and gets new rings. */
static int cpu_open(struct perf_source *source, uint32_t number, struct error *err)
{
	uint32_t i;
	int rc = 0;

	if (source->cpus[number] == NULL)
		rc = cpu_allocate(source, number, err);
	for (i = 0; rc == 0 && i < source->config.event_count; i++)
		rc = slot_open(source, number, i, err);
	if (rc < 0)
		cpu_close(source, source->cpus[number]);
	return rc;
}

static bool cpu_is_open(const struct perf_source *source, uint32_t number)
{
	return source->cpus[number] != NULL && source->cpus[number]->slot[0].event.ring != NULL;
}

static void cpu_enable(struct perf_source *source, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < source->config.event_count; i++)
		event_ring_enable(&source->cpus[number]->slot[i].event);
	perf_stacks_enable(source->stacks, number);
}

static void perf_close(struct source *base)
{
	struct perf_source *source = (struct perf_source *)base;
	uint32_t i;

	if (source == NULL)
		return;
	perf_stacks_close(source->stacks);
	for (i = 0; i < source->online.end && source->cpus != NULL; i++) {
		if (source->cpus[i] == NULL)
			continue;
		cpu_close(source, source->cpus[i]);
		free(source->cpus[i]->memory);
		free(source->cpus[i]);
	}
	free(source->cpus);
	register_pairs_destroy(source->pairs);
	perf_edges_close(&source->edges);
	ring_reader_close(source->reader);
	epoll_set_close(source->wakes);
	online_cpus_close(&source->online);
	free(source);
}

static int cpus_open(struct perf_source *source, struct error *err)
{
	uint32_t cpu;
	int rc = online_cpus_open(&source->online, err);

	if (rc < 0)
		return rc;
	source->cpus = calloc(source->online.end, sizeof(struct perf_cpu *));
	if (source->cpus == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (cpu = 0; cpu < source->online.end; cpu++) {
		if (!online_cpus_has(&source->online, cpu))
			continue;
		rc = cpu_open(source, cpu, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int perf_open(struct source **ret, const struct source_config *config, struct error *err)
{
	struct perf_source *source = calloc(1, sizeof(*source));
	int rc;

	if (source == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	source->base.ops = &source_perf_ops;
	source->config = *config;
	memcpy(source->events, config->events, config->event_count * sizeof(config->events[0]));
	source->config.events = source->events;
	source->online.fd = -1;
	rc = epoll_set_open(&source->wakes, err);
	if (rc == 0)
		rc = ring_reader_open(&source->reader, err);
	if (rc == 0)
		rc = epoll_set_add(source->wakes, ring_reader_fd(source->reader),
				   "an event descriptor", err);
	if (rc == 0)
		rc = perf_edges_open(&source->edges, &source->base, &source->config, source->wakes,
				     err);
	if (rc == 0 && perf_edges_registers(&source->edges) != 0) {
		source->pairs = register_pairs_create();
		if (source->pairs == NULL)
			rc = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	if (rc == 0)
		rc = cpus_open(source, err);
	if (rc < 0) {
		perf_close(&source->base);
		return rc;
	}
	stacks_open(source);
	*ret = &source->base;
	return 0;
}

static int perf_start(struct source *base, struct error *err)
{
	struct perf_source *source = (struct perf_source *)base;
	bool again = source->stopped;
	uint32_t cpu;

	(void)err;
	source->stopped = false;
	/* The events of a target are enabled when it calls exec, but only the first time. */
	for (cpu = 0; cpu < source->online.end; cpu++) {
		if (online_cpus_has(&source->online, cpu) &&
		    (again || source->config.target_pid == 0))
			cpu_enable(source, cpu);
	}
	return 0;
}

static void perf_stop(struct source *base)
{
	struct perf_source *source = (struct perf_source *)base;
	uint32_t cpu, i;

	for (cpu = 0; cpu < source->online.end; cpu++) {
		for (i = 0; source->cpus[cpu] != NULL && i < source->config.event_count; i++)
			event_ring_disable(&source->cpus[cpu]->slot[i].event);
	}
	perf_stacks_disable(source->stacks);
	source->stopped = true;
}

static void perf_set_periods(struct source *base, const struct source_event *events)
{
	struct perf_source *source = (struct perf_source *)base;
	uint32_t cpu, i;

	for (i = 0; i < source->config.event_count; i++) {
		source->events[i].period_min = events[i].period_min;
		source->events[i].period_max = events[i].period_max;
		for (cpu = 0; cpu < source->online.end; cpu++) {
			if (source->cpus[cpu] != NULL)
				event_ring_set_window(&source->cpus[cpu]->slot[i].event,
						      &events[i]);
		}
	}
	perf_stacks_set_period(source->stacks, &source->events[0]);
}

static int perf_poll_fd(struct source *base)
{
	return epoll_set_fd(((struct perf_source *)base)->wakes);
}

static void cpu_drain(struct perf_drain *drain, bool all, uint64_t until_ns)
{
	struct perf_source *source = drain->source;
	const struct perf_edges_sink edges = edges_sink(drain);

	for (drain->event = 0; drain->event < source->config.event_count; drain->event++) {
		struct perf_slot *slot = &drain->cpu->slot[drain->event];

		perf_slot_drain(slot, until_ns, sample_count, drain);
		ahead_count_all(drain);
		if (!source->stopped)
			perf_slot_new_period(slot);
		if (all)
			perf_slot_read(slot);
	}
	perf_edges_settle(&source->edges, &edges);
	if (source->config.record != NULL)
		trace_writer_settle(source->config.record);
	if (all)
		store_drain_all(&drain->cpu->store, drain->sink);
}

static int cpu_came(void *context, uint32_t cpu)
{
	struct perf_source *source = ((struct perf_drain *)context)->source;
	bool was_open = cpu_is_open(source, cpu);
	int rc = was_open ? 0 : cpu_open(source, cpu, NULL);

	if (rc == 0 && !was_open)
		perf_stacks_cpu_open(source->stacks, cpu);
	if (rc == 0 && source->config.target_pid == 0)
		cpu_enable(source, cpu);
	return rc;
}

/*
 * A CPU's events and their rings are closed when it goes offline. So process the pending image
 * events, and take the samples that the last drain left. A target's events survive, including those
 * inherited by its children, which would not get new ones.
 */
static void cpu_went(void *context, uint32_t cpu)
{
	struct perf_drain *drain = context;
	struct perf_source *source = drain->source;

	drain->cpu = source->cpus[cpu];
	drain->number = cpu;
	if (drain->cpu == NULL || source->config.target_pid != 0)
		return;
	source->config.sync(source->config.context);
	cpu_drain(drain, false, UINT64_MAX);
	perf_stacks_drain(source->stacks, UINT64_MAX, drain->sink);
	perf_stacks_cpu_close(source->stacks, cpu);
	cpu_close(source, drain->cpu);
}

/*
 * When a CPU goes offline, perf stops all of its events: check one of them. A target's events are
 * not affected: they are not bound to a CPU.
 */
static bool cpu_stands(void *context, uint32_t cpu)
{
	const struct perf_source *source = ((struct perf_drain *)context)->source;

	return source->config.target_pid == 0 &&
	       event_ring_stands(&source->cpus[cpu]->slot[0].event);
}

static const struct online_cpus_user online_user = {cpu_came, cpu_went, cpu_stands};

static bool frame_read(void *context, const struct dcpi_snapshot *sample, uint64_t address,
		       void *to, size_t bytes)
{
	struct perf_source *source = context;
	const struct perf_edges_moment moment = {
		.pid = sample->pid,
		.generation = sample->generation,
		.time_ns = sample->time_ns,
	};

	return perf_edges_read(&source->edges, &moment, address, to, bytes);
}

static void pairs_settle(struct perf_source *source, const struct source_sink *sink)
{
	if (source->pairs == NULL || sink->pair == NULL)
		return;
	register_pairs_settle(source->pairs, sink->pair, sink->context);
	register_pairs_words(source->pairs, frame_read, source, sink->pair, sink->context);
	perf_edges_rest(&source->edges);
}

static int perf_drain(struct source *base, bool all, uint64_t until_ns,
		      const struct source_sink *sink, struct error *err)
{
	struct perf_source *source = (struct perf_source *)base;
	struct perf_drain drain = {
		.source = source,
		.sink = sink,
	};
	const struct perf_edges_sink edges = edges_sink(&drain);
	uint32_t cpu;

	(void)err;
	epoll_set_clear(source->wakes);
	if (sink->edge != NULL)
		perf_edges_drain(&source->edges, until_ns, &edges);
	for (cpu = 0; cpu < source->online.end; cpu++) {
		drain.cpu = source->cpus[cpu];
		drain.number = cpu;
		if (drain.cpu != NULL)
			cpu_drain(&drain, all, until_ns);
	}
	pairs_settle(source, sink);
	perf_stacks_drain(source->stacks, until_ns, sink);
	if (!source->stopped)
		online_cpus_follow(&source->online, &online_user, &drain);
	return 0;
}

static uint64_t perf_counters(struct source *base, source_counter_fn visit, void *context)
{
	struct perf_source *source = (struct perf_source *)base;
	uint64_t hits = 0, misses = 0, evictions = 0, lost = 0, malformed = 0, throttled = 0;
	uint32_t cpu, i;

	for (cpu = 0; cpu < source->online.end; cpu++) {
		const struct perf_cpu *at = source->cpus[cpu];

		if (at == NULL)
			continue;
		hits += at->store.hits;
		misses += at->store.misses;
		evictions += at->store.evictions;
		for (i = 0; i < source->config.event_count; i++) {
			lost += at->slot[i].lost;
			malformed += at->slot[i].malformed;
			throttled += at->slot[i].throttled;
		}
	}
	visit(context, "loss", "ring_full", lost);
	visit(context, "loss", "ring_malformed", malformed);
	visit(context, "stat", "hits", hits);
	visit(context, "stat", "misses", misses);
	visit(context, "stat", "evictions", evictions);
	visit(context, "stat", "throttled", throttled);
	if (source->pairs != NULL)
		register_pairs_report(source->pairs, NULL, visit, context);
	perf_stacks_report(source->stacks, visit, context);
	perf_edges_counters(&source->edges, visit, context);
	return source->seen + lost + malformed;
}

static int perf_event_time(struct source *base, size_t event, struct source_time *time)
{
	struct perf_source *source = (struct perf_source *)base;
	uint64_t cpus = 0;
	uint32_t cpu;

	*time = (struct source_time){.enabled_ns = 0};
	for (cpu = 0; cpu < source->online.end; cpu++) {
		struct perf_slot *slot;

		if (source->cpus[cpu] == NULL)
			continue;
		slot = &source->cpus[cpu]->slot[event];
		perf_slot_read(slot);
		time->enabled_ns += slot->enabled_ns;
		time->running_ns += slot->running_ns;
		cpus++;
	}
	/* A target's events are enabled on all CPUs while it runs on one of them. */
	if (source->config.target_pid != 0 && cpus > 0)
		time->enabled_ns /= cpus;
	return 0;
}

static void perf_set_probe_share(struct source *base, uint32_t permille)
{
	perf_edges_set_probe_share(&((struct perf_source *)base)->edges, permille);
}

static void perf_set_branch_every(struct source *base, uint32_t every)
{
	perf_edges_set_every(&((struct perf_source *)base)->edges, every);
}

const struct source_ops source_perf_ops = {
	.name = "perf",
	.own_generations = true,
	.probes = true,
	.open = perf_open,
	.start = perf_start,
	.stop = perf_stop,
	.set_periods = perf_set_periods,
	.poll_fd = perf_poll_fd,
	.drain = perf_drain,
	.counters = perf_counters,
	.event_time = perf_event_time,
	.set_probe_share = perf_set_probe_share,
	.set_branch_every = perf_set_branch_every,
	.close = perf_close,
};
