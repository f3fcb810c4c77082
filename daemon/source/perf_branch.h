/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Edges of the perf source: from the registers that came with a sample, or with its
 * snapshot, to the branches that the program took next (kmod/core/interpret.h).
 *
 * The sample is old when it is looked at, and the program has gone on. So only
 * what does not change is read from it: private mappings of files that may not
 * be written (code, tables of constants). What it had on its stack and heap is in the
 * snapshot (branch_snapshots.h), or unknown, and with it a part of the branches, all
 * returns among them. On arm64 registers come without flags, where there are no
 * snapshots: only cbz, tbz and their kind, and what is compared after the sample, are
 * known there.
 *
 * Mappings are looked up in /proc, and with what was read are kept in mind until the caller
 * says that they may be others. Of a program that has called exec or unloaded a library since,
 * the wrong code could be read: the caller sees to the former; the latter is the one thing left
 * to chance, where nobody tells of it.
 */
#ifndef DCPI_PERF_BRANCH_H
#define DCPI_PERF_BRANCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/file_mapping.h"
#include "kmod/core/interpret.h"

struct branch_snapshot;
struct perf_sample;

/* Of a machine that is busy with more, those asked for last. */
#define PERF_BRANCH_PROCESSES 16
/*
 * Of the daemon's own time, in each second so much at most, and once more what one takes, is
 * spent on finding out what processes have mapped: a process may have 65,530 mappings, or
 * change them all the time.
 */
#define PERF_BRANCH_READ_NS 50000000
/*
 * And so long, their code included, waiting for processes that map something meanwhile. Who does
 * so all the time is given up after a part of that, with what was read.
 */
#define PERF_BRANCH_WAIT_NS 300000000
#define PERF_BRANCH_WAIT_ONE_NS 100000000
/* Branches that are followed from a sample on. */
#define PERF_BRANCH_EDGES 8

/**
 * struct perf_branch_range - addresses [start, end) whose contents stay
 * @from:    what of a file is at @start
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

/** struct perf_branch_block - of their contents, at a multiple of its size; @start 0: none */
struct perf_branch_block {
	uint64_t start;
	uint8_t bytes[PERF_BRANCH_BLOCK_BYTES];
};

/**
 * struct perf_branch_process - those of a process, in order
 * @thread:  one that lives, and so has its memory
 * @version: that it was read in
 * @used:    when it was asked for last, as struct perf_branch counts
 * @code:    where code was last read from a file
 * @pagemap: which of its pages are in memory, if @has_pagemap; or -errno
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
 * @tried: samples interpreted
 * @untried: and those that were not: what their processes have mapped takes too long to read
 * @found: of these, with an edge
 * @edges: of all of them
 */
struct perf_branch {
	uint64_t tried;
	uint64_t untried;
	uint64_t found;
	uint64_t edges;
	uint64_t asked;
	uint64_t read_second;
	uint64_t read_ns;
	uint64_t wait_ns;
	struct perf_branch_process process[PERF_BRANCH_PROCESSES];
};

/**
 * perf_branch_registers() - the registers to ask for in perf_event_attr.sample_regs_user
 *
 * Return: a mask; 0 on machines that nobody interprets.
 */
uint64_t perf_branch_registers(void);

/** perf_branch_refresh() - all that is known of processes is old now. */
void perf_branch_refresh(struct perf_branch *branch);

/** perf_branch_rest() - to be called after some work: no file stays open. */
void perf_branch_rest(struct perf_branch *branch);

/**
 * perf_branch_find() - the edges that follow a sample in user space
 * @version: here and below: another number if the process may have mapped other things
 * @sample: with PERF_SAMPLE_REGS_USER after its other fields, as large as its
 *          header says
 * @edges:  out
 *
 * Return: how many.
 */
uint32_t perf_branch_find(struct perf_branch *branch, uint64_t version,
			  const struct perf_sample *sample,
			  struct interpret_edge edges[PERF_BRANCH_EDGES]);

/**
 * perf_branch_follow() - those that follow a snapshot; likewise. Those of probes are not
 * counted as samples
 * @stuck: out: the branch behind them, if it depends on what is not known; 0: none
 */
uint32_t perf_branch_follow(struct perf_branch *branch, uint64_t version,
			    const struct branch_snapshot *snapshot,
			    struct interpret_edge edges[PERF_BRANCH_EDGES], uint64_t *stuck);

/** perf_branch_place() - of code of a process that edges were found in; else of no file */
struct file_place perf_branch_place(struct perf_branch *branch, uint32_t pid, uint64_t version,
				    uint64_t address);

/** perf_branch_deinit() - free what it holds; it is ready again. */
void perf_branch_deinit(struct perf_branch *branch);

#endif
