/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processor's branch records of a procedure. They show how often control followed each edge,
 * relative to the other edges of its block, and how long an execution takes.
 *
 * A record (PROFILE_EDGE_RANGE) is a range of code that ran straight through, up to a taken branch.
 * Control followed the edges to the next instruction within the range, and the edge at its end.
 * Records of a range that contains an unconditional branch or a call contradict the code. Ranges
 * with a system call have no times, because they may include time in the kernel.
 *
 * A sample of time interrupts a range whose beginning is recorded. The executions of ranges that
 * begin at an instruction are therefore the samples in these ranges, divided by the recorded cycles
 * of one range: flow_records.h uses this. The division of a range's cycles among its instructions
 * does not matter. To divide them, the samples in ranges with the same beginning are used.
 */
#ifndef DCPI_BRANCH_RECORDS_H
#define DCPI_BRANCH_RECORDS_H

#include "analysis/graph/cfg.h"

struct branch_count;

/**
 * struct record_range - records of code that ran straight through
 * @start:   address of its first instruction; @end: of its last one
 * @count:   number of records
 * @weight:  executions that they represent; 0: no cycles were recorded
 * @cycles:  sum over these executions
 * @sampled: number of samples of time at @end, while control ran through from @start
 */
struct record_range {
	uint64_t start;
	uint64_t end;
	double count;
	double weight;
	double cycles;
	double sampled;
};

/**
 * struct record_block - times of a block; all zero: not recorded
 * @cycles:       per execution of the block, without those of callees
 * @samples:      of time, in ranges that begin in the block
 * @range_cycles: of such ranges, per execution of the block
 * @ranges:       number of records of such ranges
 */
struct record_block {
	double cycles;
	double samples;
	double range_cycles;
	double ranges;
};

/**
 * struct branch_records - records mapped onto a graph
 * @edges:   for each edge, its share of the records at its branch, times their number
 * @blocks:  times of each block
 * @used:    number of records, without @refused ones, which contradict the code
 */
struct branch_records {
	double *edges;
	struct record_block *blocks;
	double used;
	double refused;
};

/**
 * branch_records_create() - map records onto a graph
 * @ret:      out; NULL if no range is within the graph. Freed by branch_records_destroy()
 * @ranges:   by start; those that begin outside of the graph are skipped
 * @branches: edges with records, by (from, to)
 *
 * Return: 0 or -ENOMEM.
 */
int branch_records_create(struct branch_records **ret, const struct cfg *cfg,
			  const struct record_range *ranges, size_t range_count,
			  const struct branch_count *branches, size_t branch_count);

void branch_records_destroy(struct branch_records *records);

#endif
