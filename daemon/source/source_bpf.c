// SPDX-License-Identifier: GPL-2.0-only
/*
 * The bpf source: perf events whose overflows run a BPF program, which counts samples in the kernel
 * (daemon/source/bpf/sample_count.h). The daemon reads mapped memory. It makes system calls to
 * change periods, once per drain, and to wait for a grace period, once per flush.
 *
 * Call stacks: see daemon/source/bpf_stacks.h.
 *
 * Edges and register pairs: from snapshots, which a BPF program takes after the counting program
 * (daemon/source/perf_edges.h, daemon/source/register_pairs.h).
 *
 * Periods: see daemon/source/event_ring.h. Throttling: as in source_perf.c.
 *
 * Losses: "buffers_full", as in dcpi.ko. Not counted: the kernel skips the program if the overflow
 * interrupts another BPF program (of a tracer) or an update of a BPF map. These samples are never
 * taken, so such code is a blind spot of this source. Code with interrupts disabled is another one,
 * if the event has no NMI.
 */
#include "daemon/source/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/source/bpf_sampler.h"
#include "daemon/source/bpf_slot.h"
#include "daemon/source/bpf_stacks.h"
#include "daemon/source/bpf_store.h"
#include "daemon/source/perf_edges.h"
#include "daemon/source/register_pairs.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/online_cpus.h"
#include "lib/epoll_set.h"

/* @samples: sample count of the CPU when its periods were last changed */
struct bpf_source_cpu {
	struct bpf_slot slot[DCPI_EVENTS_MAX];
	uint64_t samples;
};

/*
 * @stopped: sampling was stopped and not started again
 * @pairs:   NULL if there are no snapshots
 * @stacks:  NULL if call stacks are not wanted
 */
struct bpf_source {
	struct source base;
	struct source_config config;
	struct source_event events[DCPI_EVENTS_MAX];
	struct bpf_sampler *sampler;
	struct bpf_store *store;
	struct perf_edges edges;
	struct register_pairs *pairs;
	struct bpf_stacks *stacks;
	struct online_cpus online;
	struct bpf_source_cpu *cpus;
	struct epoll_set *wakes;
	bool stopped;
};

static void cpu_close(struct bpf_source *source, uint32_t cpu)
{
	size_t i;

	for (i = 0; i < source->config.event_count; i++)
		bpf_slot_close(&source->cpus[cpu].slot[i]);
	bpf_stacks_cpu_close(source->stacks, cpu);
}

static int slot_open(struct bpf_source *source, uint32_t cpu, uint32_t event, struct error *err)
{
	struct bpf_slot *slot = &source->cpus[cpu].slot[event];
	struct bpf_slot_config config = {
		.event = &source->events[event],
		.number = event,
		.cpu = cpu,
		.program_fd = bpf_sampler_fd(source->sampler),
		.user_only = source->config.user_only,
	};
	int rc = bpf_slot_open(slot, &config, err);

	return rc < 0 ? rc
		      : epoll_set_add(source->wakes, event_ring_fd(&slot->event), "a CPU", err);
}

static int cpu_open(struct bpf_source *source, uint32_t cpu, struct error *err)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < source->config.event_count; i++)
		rc = slot_open(source, cpu, i, err);
	if (rc < 0)
		cpu_close(source, cpu);
	else
		bpf_stacks_cpu_open(source->stacks, cpu);
	return rc;
}

static void cpu_enable(struct bpf_source *source, uint32_t cpu)
{
	size_t i;

	for (i = 0; i < source->config.event_count; i++)
		event_ring_enable(&source->cpus[cpu].slot[i].event);
	bpf_stacks_enable(source->stacks, cpu);
}

/* A CPU's events are closed when it goes offline; its counts are kept. */
static int cpu_came(void *context, uint32_t cpu)
{
	struct bpf_source *source = context;
	int rc = cpu_open(source, cpu, NULL);

	if (rc == 0)
		cpu_enable(source, cpu);
	return rc;
}

static void cpu_went(void *context, uint32_t cpu)
{
	cpu_close(context, cpu);
}

/* When a CPU goes offline, perf stops all of its events: check one of them. */
static bool cpu_stands(void *context, uint32_t cpu)
{
	const struct bpf_source *source = context;

	return event_ring_stands(&source->cpus[cpu].slot[0].event);
}

static const struct online_cpus_user online_user = {cpu_came, cpu_went, cpu_stands};

static void bpf_close(struct source *base)
{
	struct bpf_source *source = (struct bpf_source *)base;
	uint32_t cpu;

	if (source == NULL)
		return;
	for (cpu = 0; source->cpus != NULL && cpu < source->online.end; cpu++)
		cpu_close(source, cpu);
	free(source->cpus);
	bpf_store_destroy(source->store);
	bpf_sampler_close(source->sampler);
	bpf_stacks_close(source->stacks);
	register_pairs_destroy(source->pairs);
	perf_edges_close(&source->edges);
	epoll_set_close(source->wakes);
	online_cpus_close(&source->online);
	free(source);
}

static int config_check(const struct source_config *config, struct error *err)
{
	if (config->target_pid != 0)
		return error_set(err, EOPNOTSUPP, "BPF samples the whole machine only");
	if (config->double_every != 0)
		return error_set(err, EOPNOTSUPP, "BPF takes no double samples");
	return 0;
}

static int store_open(struct bpf_source *source, struct error *err)
{
	struct bpf_store_config memory = {
		.sync = source->config.sync,
		.sync_context = source->config.context,
	};
	struct bpf_followers followers;
	bool are_followed = perf_edges_followers(&source->edges, &followers);
	int rc;

	if (are_followed)
		source->pairs = register_pairs_create();
	if (are_followed && source->pairs == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	rc = bpf_sampler_open(&source->sampler, source->online.end, source->config.table_entries,
			      source->config.buffer_entries, are_followed ? &followers : NULL, err);
	if (rc < 0)
		return rc;
	bpf_sampler_memory(source->sampler, &memory);
	rc = bpf_store_create(&source->store, &memory);
	return rc < 0 ? error_set(err, -rc, ERROR_NO_MEMORY) : 0;
}

/* A failure leaves the counting of samples unchanged. */
static void stacks_open(struct bpf_source *source)
{
	struct error failure;

	if (source->config.stack_every == 0)
		return;
	if (bpf_stacks_open(&source->stacks, &source->config, source->online.end, &failure) < 0 ||
	    epoll_set_add(source->wakes, bpf_stacks_fd(source->stacks), "call stacks", &failure) <
		    0)
		log_warning("no call stacks are sampled: %s", failure.message);
}

static int parts_open(struct bpf_source *source, struct error *err)
{
	uint32_t cpu;
	int rc = epoll_set_open(&source->wakes, err);

	if (rc == 0)
		rc = perf_edges_open(&source->edges, &source->base, &source->config, source->wakes,
				     err);
	if (rc == 0)
		rc = online_cpus_open(&source->online, err);
	if (rc < 0)
		return rc;
	source->cpus = calloc(source->online.end, sizeof(source->cpus[0]));
	if (source->cpus == NULL)
		rc = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (rc == 0)
		rc = store_open(source, err);
	if (rc == 0)
		stacks_open(source);
	for (cpu = 0; rc == 0 && cpu < source->online.end; cpu++) {
		if (online_cpus_has(&source->online, cpu))
			rc = cpu_open(source, cpu, err);
	}
	return rc;
}

static int bpf_open(struct source **ret, const struct source_config *config, struct error *err)
{
	struct bpf_source *source;
	int rc = config_check(config, err);

	if (rc < 0)
		return rc;
	source = calloc(1, sizeof(*source));
	if (source == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	source->base.ops = &source_bpf_ops;
	source->config = *config;
	memcpy(source->events, config->events, config->event_count * sizeof(config->events[0]));
	source->config.events = source->events;
	source->online.fd = -1;
	rc = parts_open(source, err);
	if (rc < 0) {
		bpf_close(&source->base);
		return rc;
	}
	*ret = &source->base;
	return 0;
}

static int bpf_start(struct source *base, struct error *err)
{
	struct bpf_source *source = (struct bpf_source *)base;
	uint32_t cpu;

	(void)err;
	source->stopped = false;
	for (cpu = 0; cpu < source->online.end; cpu++)
		cpu_enable(source, cpu);
	return 0;
}

static void bpf_stop(struct source *base)
{
	struct bpf_source *source = (struct bpf_source *)base;
	uint32_t cpu;
	size_t i;

	source->stopped = true;
	for (cpu = 0; cpu < source->online.end; cpu++) {
		for (i = 0; i < source->config.event_count; i++)
			event_ring_disable(&source->cpus[cpu].slot[i].event);
	}
	bpf_stacks_disable(source->stacks);
}

static void bpf_set_periods(struct source *base, const struct source_event *events)
{
	struct bpf_source *source = (struct bpf_source *)base;
	uint32_t cpu, i;

	for (i = 0; i < source->config.event_count; i++) {
		source->events[i].period_min = events[i].period_min;
		source->events[i].period_max = events[i].period_max;
		for (cpu = 0; cpu < source->online.end; cpu++)
			event_ring_set_window(&source->cpus[cpu].slot[i].event, &events[i]);
	}
	bpf_stacks_set_period(source->stacks, &source->events[0]);
}

static int bpf_poll_fd(struct source *base)
{
	return epoll_set_fd(((struct bpf_source *)base)->wakes);
}

/* Idle CPUs are not interrupted. */
static void periods_renew(struct bpf_source *source)
{
	uint32_t cpu;
	size_t i;

	for (cpu = 0; cpu < source->online.end; cpu++) {
		struct bpf_source_cpu *at = &source->cpus[cpu];
		uint64_t samples = bpf_store_cpu_samples(source->store, cpu);

		for (i = 0; i < source->config.event_count; i++) {
			bpf_slot_read_ring(&at->slot[i]);
			if (samples != at->samples && !source->stopped)
				event_ring_new_period(&at->slot[i].event);
		}
		at->samples = samples;
	}
}

/* State of one drain. */
struct bpf_drain {
	struct bpf_source *source;
	const struct source_sink *sink;
};

/* Edges of probes are few, so they are not aggregated. */
static void edge_hand_over(void *context, const struct source_edge *edge)
{
	const struct bpf_drain *drain = context;

	drain->sink->edge(drain->sink->context, edge);
}

static void access_hand_over(void *context, const struct source_access *access)
{
	const struct bpf_drain *drain = context;

	drain->sink->access(drain->sink->context, access);
}

static void edges_hand_over(void *context, uint32_t cpu, const struct interpret_edge *edges,
			    uint32_t count, uint64_t tag)
{
	(void)cpu;
	for (uint32_t i = 0; i < count; i++) {
		const struct source_edge edge = {edges[i].from, edges[i].to, tag, 1};

		edge_hand_over(context, &edge);
	}
}

static void snapshot_hand_over(void *context, const struct dcpi_snapshot *snapshot)
{
	const struct bpf_drain *drain = context;

	if (drain->sink->pair != NULL)
		register_pairs_examined(drain->source->pairs, snapshot, drain->sink->pair,
					drain->sink->context);
}

static int bpf_drain(struct source *base, bool all, uint64_t until_ns,
		     const struct source_sink *sink, struct error *err)
{
	struct bpf_source *source = (struct bpf_source *)base;
	struct bpf_drain drain = {source, sink};
	const struct perf_edges_sink edges = {
		.behind = edges_hand_over,
		.probed = edge_hand_over,
		.access = sink->access != NULL ? access_hand_over : NULL,
		.snapshot = source->pairs != NULL ? snapshot_hand_over : NULL,
		.context = &drain,
	};
	int rc = 0;

	epoll_set_clear(source->wakes);
	if (sink->edge != NULL)
		perf_edges_drain(&source->edges, until_ns, &edges);
	if (all)
		rc = bpf_store_flush(source->store, sink);
	else
		bpf_store_drain(source->store, sink);
	bpf_stacks_drain(source->stacks, sink);
	if (rc < 0)
		return error_set(err, -rc, "cannot wait for BPF programs to end");
	periods_renew(source);
	if (!source->stopped)
		online_cpus_follow(&source->online, &online_user, source);
	return 0;
}

static uint64_t bpf_counters(struct source *base, source_counter_fn visit, void *context)
{
	const struct bpf_source *source = (const struct bpf_source *)base;
	struct bpf_store_totals totals;
	uint64_t samples = bpf_store_totals(source->store, &totals), throttled = 0;
	uint32_t cpu;
	size_t i;

	for (cpu = 0; cpu < source->online.end; cpu++) {
		for (i = 0; i < source->config.event_count; i++)
			throttled += source->cpus[cpu].slot[i].throttled;
	}
	visit(context, "loss", dcpi_loss_name(DCPI_LOSS_BUFFERS_FULL), totals.lost);
	visit(context, "stat", "hits", totals.hits);
	visit(context, "stat", "misses", totals.misses);
	visit(context, "stat", "evictions", totals.evictions);
	visit(context, "stat", "direct", totals.direct);
	visit(context, "stat", "flips", totals.flips);
	visit(context, "stat", "throttled", throttled);
	totals.pairs.missed += perf_edges_missed_second(&source->edges);
	if (source->pairs != NULL)
		register_pairs_report(source->pairs, &totals.pairs, visit, context);
	perf_edges_counters(&source->edges, visit, context);
	bpf_stacks_report(source->stacks, visit, context);
	return samples;
}

static int bpf_event_time(struct source *base, size_t event, struct source_time *time)
{
	const struct bpf_source *source = (const struct bpf_source *)base;
	uint32_t cpu;

	if (event >= source->config.event_count)
		return -ENODATA;
	memset(time, 0, sizeof(*time));
	for (cpu = 0; cpu < source->online.end; cpu++)
		bpf_slot_time(&source->cpus[cpu].slot[event], time);
	return 0;
}

static int bpf_generation(struct source *base, uint32_t pid, uint32_t *generation)
{
	return bpf_sampler_generation(((struct bpf_source *)base)->sampler, pid, generation);
}

static void bpf_set_probe_share(struct source *base, uint32_t permille)
{
	perf_edges_set_probe_share(&((struct bpf_source *)base)->edges, permille);
}

const struct source_ops source_bpf_ops = {
	.name = "bpf",
	.own_generations = false,
	.probes = true,
	.open = bpf_open,
	.start = bpf_start,
	.stop = bpf_stop,
	.set_periods = bpf_set_periods,
	.poll_fd = bpf_poll_fd,
	.drain = bpf_drain,
	.counters = bpf_counters,
	.event_time = bpf_event_time,
	.generation = bpf_generation,
	.set_probe_share = bpf_set_probe_share,
	.close = bpf_close,
};
