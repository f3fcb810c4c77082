/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of each path, from the traces of all threads (paths_trace.h).
 *
 * The time of a group is the time to read the clock plus the costs of its paths. All of these are
 * the maximum likelihood solution for all groups, by expectation maximization: each iteration
 * divides a group's time among its parts in proportion to their present costs (Shepp and Vardi,
 * "Maximum likelihood reconstruction for emission tomography", 1982). Costs begin in proportion to
 * instructions, which decides between paths that always occur together.
 *
 * The time to record an empty path, which each thread measures when it starts, is then subtracted
 * from each path. A cost is never less than that of the path's instructions at the highest rate of
 * any processor.
 *
 * The traces are not trusted.
 */
#ifndef DCPI_INSTRUMENT_PATHS_COST_H
#define DCPI_INSTRUMENT_PATHS_COST_H

#include "instrument/paths/paths_map.h"
#include "lib/u64_map.h"

struct profile_file;
struct cost_path;
struct cost_group;
struct cost_member;
struct cost_range;

/**
 * struct paths_cost - zero-initialised is empty; freed by paths_cost_deinit()
 * @index:  for each key of a path its place in @paths + 1
 * @same:   for a hash of its paths, a group's place in @groups + 1
 * @groups: groups with different paths; those with the same paths are added up
 * @members: the paths of groups
 * @clocks, @empty: times for calibration, @clock_count of each
 * @ranges: procedures by the first word of their arrays
 * @clock:  cycles to begin a group
 * @recording, @recording_low, @recording_high: cycles to record an empty path: the median, and the
 *          quartiles
 * @used:   number of groups in the solution
 * @interrupted: groups that took unusually long, because the thread was interrupted or waited
 */
struct paths_cost {
	struct u64_map index;
	struct u64_map same;
	struct cost_path *paths;
	size_t path_count;
	size_t path_capacity;
	struct cost_group *groups;
	size_t group_count;
	size_t group_capacity;
	struct cost_member *members;
	size_t member_count;
	size_t member_capacity;
	uint32_t *clocks;
	uint32_t *empty;
	size_t clock_count;
	size_t clock_capacity;
	size_t empty_capacity;
	struct cost_range *ranges;
	size_t range_count;
	double clock;
	double recording;
	double recording_low;
	double recording_high;
	uint64_t used;
	uint64_t interrupted;
};

/** paths_cost_key() - return the key of a path; @procedure: index in the map */
static inline uint64_t paths_cost_key(uint32_t procedure, uint32_t number)
{
	return ((uint64_t)procedure + 1) << 32 | number;
}

/**
 * paths_cost_add() - add the trace of a block
 * @entries: the block's table, PATHS_TABLE_BYTES
 *
 * Return: 0; -ENOMEM; errors of profile_file_read().
 */
int paths_cost_add(struct paths_cost *cost, const struct paths_map *map,
		   const struct profile_file *file, uint64_t block,
		   const struct paths_entry *entries);

/** paths_cost_solve() - compute the costs, after all traces. O(members), repeated. */
void paths_cost_solve(struct paths_cost *cost, const struct paths_map *map);

/**
 * paths_cost_find() - look a path up
 * @cycles: out: of one execution
 *
 * Return: its executions in groups of the solution; 0: the path is in no group.
 */
uint64_t paths_cost_find(const struct paths_cost *cost, uint64_t key, double *cycles);

void paths_cost_deinit(struct paths_cost *cost);

#endif
