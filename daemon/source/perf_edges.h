/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The edges of the sources of perf events, perf and bpf: all ways to find them, as one.
 *
 * From snapshots (branch_snapshots.h) where the kernel takes the BPF program that makes
 * them, else from registers in the samples' records (perf_branch.h); and, with snapshots,
 * by probes of branches that samples lead to (branch_probes.h).
 */
#ifndef DCPI_PERF_EDGES_H
#define DCPI_PERF_EDGES_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/perf_branch.h"
#include "daemon/source/source.h"

struct branch_probes;
struct branch_snapshots;
struct error;
struct perf_sample;
struct wake_set;

/** struct perf_edges_moment - a process as a sample found it; @time_ns: CLOCK_MONOTONIC */
struct perf_edges_moment {
	uint32_t pid;
	uint32_t generation;
	uint64_t time_ns;
};

/** struct perf_edges_offer - a branch to probe, of a process as it was when it was read */
struct perf_edges_offer {
	struct perf_edges_moment moment;
	uint64_t address;
	struct file_place place;
};

/* Processes whose generations are kept in mind during a drain. */
#define PERF_EDGES_PROCESSES 64

/** struct perf_edges_process - and its generation of now; 0: it has none */
struct perf_edges_process {
	uint32_t pid;
	uint32_t generation;
};

/** struct perf_edges_found - @count edges behind a sample on a CPU, likewise */
struct perf_edges_found {
	struct perf_edges_moment moment;
	uint32_t cpu;
	uint32_t count;
	struct interpret_edge path[PERF_BRANCH_EDGES];
};

/**
 * struct perf_edges - fields are private
 * @source:    whose edges they are, if its generations are the kernel's; else NULL
 * @config:    the source's; stays its own
 * @snapshots: NULL: from records, and without probes
 * @probes:    NULL: none
 * @refresh_ns: when all that is known of processes is to be looked up again
 * @wait:      samples up to the next whose record is interpreted
 * @offers:    samples whose branches were to be offered
 * @offer, @found: of this drain
 * @untried:   samples whose process was no more, or another program, or had other code
 * @gone:      edges found of processes that were no more, another program, or had other code in
 *             their places, by then
 * @probed:    edges that probes saw
 * @in_probes: samples of the kernel at a breakpoint of a probe
 * @processes: by @source
 */
struct perf_edges {
	struct source *source;
	const struct source_config *config;
	struct perf_branch branch;
	struct branch_snapshots *snapshots;
	struct branch_probes *probes;
	uint64_t refresh_ns;
	uint32_t wait;
	uint32_t offers;
	struct perf_edges_offer *offer;
	size_t offer_count, offer_capacity;
	struct perf_edges_found *found;
	size_t found_count, found_capacity;
	uint64_t untried;
	uint64_t gone;
	uint64_t probed;
	uint64_t in_probes;
	struct perf_edges_process processes[PERF_EDGES_PROCESSES];
};

/**
 * perf_edges_open() - with what the kernel allows; nothing without @config->branch_every
 * @edges:  zeroes
 * @source: whose they are
 * @config: its own; both stay the caller's
 * @wakes:  is told of snapshots
 *
 * Return: 0, or the error of @wakes.
 */
int perf_edges_open(struct perf_edges *edges, struct source *source,
		    const struct source_config *config, struct wake_set *wakes, struct error *err);

/** perf_edges_close() - zeroes are fine, too. */
void perf_edges_close(struct perf_edges *edges);

/** perf_edges_program() - the BPF program to run at samples; 0: none */
int perf_edges_program(const struct perf_edges *edges);

/** perf_edges_follower() - the BPF program to follow samples (bpf_sampler.h); 0: none */
int perf_edges_follower(const struct perf_edges *edges);

/** perf_edges_registers() - what records are to bring, as perf_slot_config.registers */
uint64_t perf_edges_registers(const struct perf_edges *edges);

/**
 * perf_edges_is_probe() - report whether a sample of the kernel is in the trap of a probe
 * @sample: with the registers of perf_edges_registers()
 */
bool perf_edges_is_probe(struct perf_edges *edges, const struct perf_sample *sample);

/**
 * struct perf_edges_sink - who takes edges
 * @behind: those that a sample on a CPU leads to
 * @probed: one that a probe saw
 * @context: for both
 */
struct perf_edges_sink {
	void (*behind)(void *context, uint32_t cpu, const struct interpret_edge *edges,
		       uint32_t count, uint64_t tag);
	void (*probed)(void *context, const struct source_edge *edge);
	void *context;
};

/**
 * perf_edges_drain() - hand over what snapshots and probes tell; first of all in a drain
 * @until_ns: later snapshots are of processes that may not be known yet: they wait
 */
void perf_edges_drain(struct perf_edges *edges, uint64_t until_ns,
		      const struct perf_edges_sink *sink);

/**
 * perf_edges_record() - find those behind a sample in user space, from its record
 * @generation: of its process
 * @sink: takes others, found before, when they are many
 */
void perf_edges_record(struct perf_edges *edges, uint32_t cpu, const struct perf_sample *sample,
		       uint32_t generation, const struct perf_edges_sink *sink);

/** perf_edges_settle() - hand over what was found from records; after some of them */
void perf_edges_settle(struct perf_edges *edges, const struct perf_edges_sink *sink);

/** perf_edges_set_probe_share() - as source_ops.set_probe_share */
void perf_edges_set_probe_share(struct perf_edges *edges, uint32_t permille);

/** perf_edges_tell() - its counters, as source_ops.counters has them */
void perf_edges_tell(const struct perf_edges *edges, source_counter_fn visit, void *context);

#endif
