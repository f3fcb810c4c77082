/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Edges of the sources that use perf events: derived from the snapshot of a sample, by interpreting
 * the program up to its next branches (daemon/source/branch_ahead.h).
 *
 * By the time a sample is processed, the program has continued. So only memory that does not change
 * is read from the process: private mappings of files that are not writable (code, tables of
 * constants). Stack and heap are in the snapshot (branch_snapshots.h) or unknown. If they are
 * unknown, so are some of the branches, including all returns. Snapshots from records of perf
 * (perf_registers.h) have no memory, and no flags on arm64. There, only cbz, tbz and similar
 * branches are known, and those that depend on comparisons after the sample.
 *
 * Mappings are read from /proc. They and the memory read are cached until the caller reports a
 * change. If a program has called exec or unloaded a library since, the wrong code could be read.
 * The caller prevents this for exec. It remains possible for an unloaded library if no event
 * reports it.
 */
#ifndef DCPI_PERF_BRANCH_H
#define DCPI_PERF_BRANCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/arrival_cache.h"
#include "daemon/source/branch_ahead.h"
#include "daemon/source/file_mapping.h"
#include "kmod/core/access.h"
#include "kmod/core/interpret.h"

struct dcpi_snapshot;

/* If more processes than this are active, the least recently used are dropped. */
#define PERF_BRANCH_PROCESSES 16
/*
 * Limit of the daemon's own CPU time per second for reading the mappings of processes; one read may
 * exceed it. A process may have 65,530 mappings, or change them all the time.
 */
#define PERF_BRANCH_READ_NS 50000000
/*
 * Limit of the elapsed time per second for this and for reading code, because a process that maps
 * memory meanwhile makes the daemon wait. Reading one process's mappings ends after
 * PERF_BRANCH_WAIT_ONE_NS, with the mappings read so far.
 */
#define PERF_BRANCH_WAIT_NS 300000000
#define PERF_BRANCH_WAIT_ONE_NS 100000000
/**
 * struct perf_branch_range - addresses [start, end) with unchanging contents
 * @from:    place in a file that is mapped at @start
 * @is_code: executable
 */
struct perf_branch_range {
	uint64_t start;
	uint64_t end;
	struct file_place from;
	bool is_code;
};

#define PERF_BRANCH_BLOCKS 32
#define PERF_BRANCH_BLOCK_BYTES 256

/** struct perf_branch_block - a block of contents, aligned to its size; @start 0: none */
struct perf_branch_block {
	uint64_t start;
	uint8_t bytes[PERF_BRANCH_BLOCK_BYTES];
};

/**
 * struct perf_branch_process - the ranges of a process, sorted
 * @thread:  a live thread, through which its memory can be read
 * @version: of the mappings when they were read
 * @used:    time of the last use, as counted by struct perf_branch
 * @code:    mapping from whose file code was last read
 * @pagemap: descriptor of its pagemap, if @has_pagemap; or -errno
 * @blocks:  by address
 */
struct perf_branch_process {
	uint32_t pid;
	uint32_t thread;
	uint64_t version;
	uint64_t used;
	size_t count;
	size_t capacity;
	struct perf_branch_range *ranges;
	struct file_mapping code;
	bool has_pagemap;
	int pagemap;
	struct perf_branch_block blocks[PERF_BRANCH_BLOCKS];
};

/**
 * struct perf_branch - zero-initialised is ready; processes are private
 * @tried:   samples interpreted
 * @untried: samples not interpreted, because reading the mappings of their processes takes too long
 * @found:   samples of @tried with an edge
 * @edges:   edges of all samples
 * @accesses: accesses to data of all samples
 */
struct perf_branch {
	uint64_t tried;
	uint64_t untried;
	uint64_t found;
	uint64_t edges;
	uint64_t accesses;
	uint64_t asked;
	uint64_t read_second;
	uint64_t read_ns;
	uint64_t wait_ns;
	struct perf_branch_process process[PERF_BRANCH_PROCESSES];
	struct arrival_cache arrivals;
};

/**
 * perf_branch_read() - read memory of a process as it is now, if it is in memory
 * @bytes: at most those of a page
 *
 * Return: true if all @bytes were read.
 */
bool perf_branch_read(struct perf_branch *branch, uint32_t pid, uint64_t version, uint64_t address,
		      void *to, size_t bytes);

/** perf_branch_refresh() - invalidate all cached data of processes. */
void perf_branch_refresh(struct perf_branch *branch);

/** perf_branch_rest() - close all files; call this after a batch of work. */
void perf_branch_rest(struct perf_branch *branch);

/**
 * perf_branch_follow() - find the edges that follow a snapshot
 * @version:  here and below: changes whenever the process may have changed its mappings
 * @snapshot: with its pieces; if it is one of a probe, only the first edge is found
 * @ahead:    out
 * @stuck:    out: the branch after the near edges, if it depends on unknown values; 0: none
 * @accesses: out: of data near the sample (x86-64); NULL: not wanted
 *
 * Snapshots of probes are not counted as samples.
 *
 * Return: number of near edges.
 */
uint32_t perf_branch_follow(struct perf_branch *branch, uint64_t version,
			    const struct dcpi_snapshot *snapshot, struct branch_ahead *ahead,
			    uint64_t *stuck, struct access_list *accesses);

/**
 * perf_branch_place() - return the place of code in which edges were found; no file if it is
 * unknown
 */
struct file_place perf_branch_place(struct perf_branch *branch, uint32_t pid, uint64_t version,
				    uint64_t address);

/** perf_branch_deinit() - free all resources; the structure is ready again. */
void perf_branch_deinit(struct perf_branch *branch);

#endif
