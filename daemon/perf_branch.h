/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Edges of the perf source: from the registers that came with a sample to the
 * branch that the program took next (kmod/core/interpret.h).
 *
 * The sample is old when it is looked at, and the program has gone on. So only
 * what does not change is read from it: private mappings of files that may not
 * be written (code, tables of constants). What it had on its stack and heap is
 * unknown, and with it a part of the branches, all returns among them. On arm64
 * perf has no flags either: only cbz, tbz and their kind, and what is compared
 * after the sample, are known there.
 *
 * Mappings are looked up in /proc once a drain and process. Of a program that
 * has called exec or unloaded a library since, the wrong code could be read: the
 * caller sees to the former; the latter is the one thing left to chance.
 */
#ifndef DCPI_PERF_BRANCH_H
#define DCPI_PERF_BRANCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_sample;

#define PERF_BRANCH_PROCESSES 8

/** struct perf_branch_range - addresses [start, end) whose contents stay */
struct perf_branch_range {
	uint64_t start;
	uint64_t end;
};

/** struct perf_branch_process - those of a process, in order */
struct perf_branch_process {
	uint32_t pid;
	size_t count;
	size_t capacity;
	struct perf_branch_range *ranges;
};

/**
 * struct perf_branch - zero-initialised is ready; processes are private
 * @tried: samples interpreted
 * @edges: of these, with an edge
 */
struct perf_branch {
	uint64_t tried;
	uint64_t edges;
	uint32_t next;
	struct perf_branch_process process[PERF_BRANCH_PROCESSES];
};

/**
 * perf_branch_registers() - the registers to ask for in perf_event_attr.sample_regs_user
 *
 * Return: a mask; 0 on machines that nobody interprets.
 */
uint64_t perf_branch_registers(void);

/** perf_branch_refresh() - what is known of processes is old now (once a drain). */
void perf_branch_refresh(struct perf_branch *branch);

/**
 * perf_branch_find() - the edge that follows a sample in user space
 * @sample:  with PERF_SAMPLE_REGS_USER after its other fields, as large as its
 *           header says
 * @from:    out
 * @to:      out
 *
 * Return: whether there is one.
 */
bool perf_branch_find(struct perf_branch *branch, const struct perf_sample *sample, uint64_t *from,
		      uint64_t *to);

/** perf_branch_deinit() - free what it holds; it is ready again. */
void perf_branch_deinit(struct perf_branch *branch);

#endif
