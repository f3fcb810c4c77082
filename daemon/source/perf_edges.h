/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Edges of the sources that use perf events, perf and bpf: combines all methods to find them.
 *
 * If the kernel accepts the BPF program of branch_snapshots.h, edges are derived from its
 * snapshots. They are then also derived from probes (branch_probes.h) of branches that samples lead
 * to. Otherwise edges are derived from registers in the samples' records (perf_branch.h).
 */
#ifndef DCPI_PERF_EDGES_H
#define DCPI_PERF_EDGES_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/perf_branch.h"
#include "daemon/source/source.h"

struct bpf_followers;
struct branch_probes;
struct branch_snapshots;
struct error;
struct dcpi_snapshot;
struct epoll_set;

/** struct perf_edges_moment - the process of a sample at that time; @time_ns: CLOCK_MONOTONIC */
struct perf_edges_moment {
	uint32_t pid;
	uint32_t generation;
	uint64_t time_ns;
};

/** struct perf_edges_candidate - a branch to probe, and its process when the branch was read */
struct perf_edges_candidate {
	struct perf_edges_moment moment;
	uint64_t address;
	struct file_place place;
};

/* Number of processes whose generations are cached during a drain. */
#define PERF_EDGES_PROCESSES 64

/** struct perf_edges_process - a process and its current generation; 0: it has none */
struct perf_edges_process {
	uint32_t pid;
	uint32_t generation;
};

/**
 * struct perf_edges_found - @count edges after a sample of a thread on a CPU, its process, its
 * accesses, and the remaining executions of @remaining_count branches
 */
struct perf_edges_found {
	struct perf_edges_moment moment;
	uint32_t thread;
	uint32_t cpu;
	uint32_t count;
	uint32_t remaining_count;
	struct interpret_edge edges[BRANCH_AHEAD_NEAR + BRANCH_AHEAD_FAR];
	struct branch_remaining remaining[BRANCH_AHEAD_REMAINING];
	struct access_list accesses;
};

/**
 * struct perf_edges - fields are private
 * @source:        the source, if its generations are the kernel's; otherwise NULL
 * @config:        of the source, which owns it
 * @snapshots:     NULL: edges are derived from records, without probes
 * @probes:        NULL: none
 * @refresh_ns:    when all cached data of processes is to be invalidated
 * @wait:          samples until the next one whose record is interpreted
 * @queueable:     number of samples with branches that could be queued
 * @candidates, @found: of this drain
 * @untried:       samples whose process had exited, run another program, or changed its code
 * @gone:          edges that were dropped for the same reasons after they had been found
 * @probed:        edges seen by probes
 * @in_probes:     kernel samples at a breakpoint of a probe
 * @processes:     cached generations of @source
 */
struct perf_edges {
	struct source *source;
	const struct source_config *config;
	struct perf_branch branch;
	struct branch_snapshots *snapshots;
	struct branch_probes *probes;
	uint64_t refresh_ns;
	uint32_t every;
	uint32_t wait;
	uint32_t queueable;
	struct perf_edges_candidate *candidates;
	size_t candidate_count, candidate_capacity;
	struct perf_edges_found *found;
	size_t found_count, found_capacity;
	uint64_t untried;
	uint64_t gone;
	uint64_t probed;
	uint64_t in_probes;
	struct perf_edges_process processes[PERF_EDGES_PROCESSES];
};

/**
 * perf_edges_open() - open with the methods that the kernel allows; none without
 * @config->branch_every
 * @edges:  zero-initialised
 * @source: its source
 * @config: of the source; the caller keeps ownership of both
 * @wakes:  gets the descriptor of snapshots
 *
 * Return: 0, or the error of @wakes.
 */
int perf_edges_open(struct perf_edges *edges, struct source *source,
		    const struct source_config *config, struct epoll_set *wakes, struct error *err);

/** perf_edges_close() - free everything; @edges may be zero-initialised. */
void perf_edges_close(struct perf_edges *edges);

/** perf_edges_program() - return the BPF program to run at samples; 0: none */
int perf_edges_program(const struct perf_edges *edges);

/**
 * perf_edges_followers() - fill in the BPF programs to run after samples were counted
 * (bpf_sampler.h). Return: false if no program is to run.
 */
bool perf_edges_followers(const struct perf_edges *edges, struct bpf_followers *ret);

/** perf_edges_missed_second() - second snapshots of pairs that found no room */
uint64_t perf_edges_missed_second(const struct perf_edges *edges);

/**
 * perf_edges_registers() - return the registers that records must have, for
 * perf_slot_config.registers
 */
uint64_t perf_edges_registers(const struct perf_edges *edges);

/**
 * perf_edges_is_probe() - return true if a kernel sample is in the trap of a probe
 * @snapshot: of the sample's record (perf_registers.h)
 */
bool perf_edges_is_probe(struct perf_edges *edges, const struct dcpi_snapshot *snapshot);

/**
 * struct perf_edges_sink - receiver of edges, and of the snapshots that they are derived from
 * @behind:  called with the edges that a sample on a CPU leads to
 * @probed:  called with an edge that a probe saw, or with remaining executions
 *           (branch_ahead.h)
 * @access:  called with an access to data near a sample; NULL: not wanted
 * @snapshot: called with the snapshots of pairs of samples; NULL: not wanted
 * @context: argument of all of them
 */
struct perf_edges_sink {
	void (*behind)(void *context, uint32_t cpu, const struct interpret_edge *edges,
		       uint32_t count, uint64_t tag);
	void (*probed)(void *context, const struct source_edge *edge);
	void (*access)(void *context, const struct source_access *access);
	void (*snapshot)(void *context, const struct dcpi_snapshot *snapshot);
	void *context;
};

/**
 * perf_edges_drain() - pass on the results of snapshots and probes; call this first in a drain
 * @until_ns: snapshots after this time are left for the next drain, because their processes may be
 *            unknown
 */
void perf_edges_drain(struct perf_edges *edges, uint64_t until_ns,
		      const struct perf_edges_sink *sink);

/**
 * perf_edges_record() - find the edges after a user-space sample from its record
 * @snapshot: of the record (perf_registers.h), with the CPU and the generation of its process
 * @sink:     receives edges found before, if there are many
 */
void perf_edges_record(struct perf_edges *edges, const struct dcpi_snapshot *snapshot,
		       const struct perf_edges_sink *sink);

/**
 * perf_edges_read() - read memory of a sample's process as it is now
 *
 * Return: false if that is not possible, or if the process runs another program by now.
 */
bool perf_edges_read(struct perf_edges *edges, const struct perf_edges_moment *moment,
		     uint64_t address, void *to, size_t bytes);

/**
 * perf_edges_settle() - pass on the edges found from records; call this after a batch of records
 */
void perf_edges_settle(struct perf_edges *edges, const struct perf_edges_sink *sink);

/** perf_edges_rest() - close files of processes; call this after perf_edges_read() */
void perf_edges_rest(struct perf_edges *edges);

/** perf_edges_set_every() - as source_ops.set_branch_every */
void perf_edges_set_every(struct perf_edges *edges, uint32_t every);

/** perf_edges_set_probe_share() - as source_ops.set_probe_share */
void perf_edges_set_probe_share(struct perf_edges *edges, uint32_t permille);

/** perf_edges_counters() - visit its counters, as source_ops.counters */
void perf_edges_counters(const struct perf_edges *edges, source_counter_fn visit, void *context);

#endif
