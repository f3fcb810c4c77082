/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bounds of cache and TLB misses that follow from the addresses of an instruction's data, out of
 * order. Internal to culprit*.c.
 *
 * A cache serves the accesses of an instruction if the data of all instructions of the procedure
 * fits into it. Only accesses to lines that no sample has seen can miss. A cache cannot serve more
 * accesses than analysis/machine/data_footprint.h allows it. Everything between is not known.
 */
#ifndef DCPI_CULPRIT_DATA_H
#define DCPI_CULPRIT_DATA_H

#include "analysis/culprit/culprit_rule.h"

/**
 * struct culprit_working_set - data of all instructions of a procedure with known accesses
 * @bytes_most, @pages_most: upper bounds (95%), if all data is accessed about equally often
 */
struct culprit_working_set {
	double bytes;
	double pages;
	double bytes_most;
	double pages_most;
};

/** culprit_working_set_find() - compute the working set of a procedure, O(instructions) */
struct culprit_working_set culprit_working_set_find(const struct culprit_input *input);

/**
 * struct culprit_data - bounds per execution; zero if nothing is known
 * @miss_cycles_most: of a cache miss, INFINITY: no bound
 * @misses_least:     share of the time in accesses that miss the first cache
 * @dtb_cycles_most:  of a miss of the DTB, INFINITY: no bound
 * @accesses:         to a line in sequence, at least 1
 * @resident:         the first cache is likely to hold the data
 * @mapped:           the DTB is likely to hold the pages
 * @far_pages:        the DTB cannot hold the pages
 */
struct culprit_data {
	bool known;
	double miss_cycles_most;
	double misses_least;
	double dtb_cycles_most;
	double accesses;
	bool resident;
	bool mapped;
	bool far_pages;
};

/** culprit_shares() - return true if threads share the lines that an instruction accesses */
bool culprit_shares(const struct culprit_input *input, uint32_t insn);

/** culprit_data_of() - return the bounds for the accesses of a stalled instruction */
struct culprit_data culprit_data_of(const struct culprit_stall *stall);

#endif
