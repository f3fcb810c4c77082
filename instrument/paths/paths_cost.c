// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/paths_cost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/mode/mode.h"
#include "instrument/paths/paths_trace.h"
#include "instrument/profile/profile_file.h"
#include "lib/array.h"
#include "lib/partition_point.h"

/*
 * Early stopping is the regularization: paths that nearly always occur together keep similar costs
 * per instruction, and noise does not decide.
 */
#define ITERATIONS 100
#define BURST_CYCLES (INT64_C(1) << BURST_SWITCH_CHARGE_BITS)
#define READ_CELLS 64
/*
 * Groups this long contain a call that takes long, an interrupt, or the time of another process.
 */
#define LONG_CYCLES 20000
/* A path in fewer of them than this is not known to take long. */
#define LONG_GROUPS 8
/* No processor completes more instructions in a cycle. */
#define INSNS_A_CYCLE 8
/* 2^64 divided by the golden ratio. */
#define SPREAD UINT64_C(0x9e3779b97f4a7c15)
/* The first store to a page of the file takes thousands of cycles. */
#define PAGE_BYTES 4096

/**
 * struct cost_path - a path
 * @executions: in groups of the solution
 * @part: of the times of groups, in an iteration
 * @groups, @long_groups: number of groups that it is in
 */
struct cost_path {
	uint64_t key;
	uint64_t executions;
	uint64_t groups;
	uint64_t long_groups;
	double insns;
	double cycles;
	double part;
};

/** struct cost_group - @count groups with the same paths, which took @time in total */
struct cost_group {
	double time;
	uint64_t count;
	size_t first;
	uint32_t members;
	bool is_long;
};

struct cost_member {
	uint32_t path;
	uint32_t times;
};

struct cost_range {
	uint64_t first;
	uint32_t procedure;
};

/**
 * struct trace_reader - a block of a file that is being read
 * @in_burst: paths since the burst began
 * @first_burst: it is the thread's first burst, from its beginning
 * @page_begins: the present cell is the first one of a page
 */
struct trace_reader {
	const struct paths_map *map;
	const struct profile_file *file;
	const struct paths_entry *entries;
	uint64_t in_burst;
	bool first_burst;
	bool page_begins;
};

void paths_cost_deinit(struct paths_cost *cost)
{
	u64_map_deinit(&cost->index);
	u64_map_deinit(&cost->same);
	free(cost->paths);
	free(cost->groups);
	free(cost->members);
	free(cost->clocks);
	free(cost->empty);
	free(cost->ranges);
	*cost = (struct paths_cost){0};
}

/* --- paths ---------------------------------------------------------------- */

static int by_first(const void *a, const void *b)
{
	const struct cost_range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static int find_ranges(struct paths_cost *cost, const struct paths_map *map)
{
	if (cost->ranges != NULL)
		return 0;
	cost->ranges = calloc(map->procedure_count + 1, sizeof(*cost->ranges));
	if (cost->ranges == NULL)
		return -ENOMEM;
	for (size_t p = 0; p < map->procedure_count; p++) {
		const struct paths_procedure *procedure = &map->procedures[p];

		if (paths_map_is_array(map, &procedure->graph))
			cost->ranges[cost->range_count++] = (struct cost_range){
				.first = procedure->first_array, .procedure = (uint32_t)p};
	}
	qsort(cost->ranges, cost->range_count, sizeof(*cost->ranges), by_first);
	return 0;
}

/* Return the key of the path that a word of an array counts; 0: none. */
static uint64_t key_of_word(const struct paths_cost *cost, const struct paths_map *map,
			    uint64_t word)
{
	size_t low = partition_point(0, cost->range_count, i, cost->ranges[i].first <= word);
	const struct path_graph *graph;
	uint64_t place;
	uint32_t number;

	if (low == 0)
		return 0;
	graph = &map->procedures[cost->ranges[low - 1].procedure].graph;
	place = word - cost->ranges[low - 1].first;
	if (place >= (uint64_t)PATHS_METRIC * graph->range.room)
		return 0;
	number = (uint32_t)(place % graph->range.room) - graph->range.below;
	return number < graph->count ? paths_cost_key(cost->ranges[low - 1].procedure, number) : 0;
}

/* Return the key of the path in a slot of a trace; 0: none. */
static uint64_t key_of_slot(const struct paths_cost *cost, const struct trace_reader *trace_reader,
			    uint32_t slot)
{
	uint64_t entry, key, table = paths_map_table(trace_reader->map);
	uint64_t words = trace_reader->file->header.area_bytes;

	if (slot >= words)
		return key_of_word(cost, trace_reader->map, (slot - words) / sizeof(uint64_t));
	if (slot < table)
		return 0;
	entry = (slot - table) / sizeof(*trace_reader->entries);
	if (entry >= PATHS_TABLE_ENTRIES + PATHS_TABLE_PROBES)
		return 0;
	key = trace_reader->entries[entry].key;
	if (key >> 32 == 0 || key >> 32 > trace_reader->map->procedure_count ||
	    (uint32_t)key >= trace_reader->map->procedures[(key >> 32) - 1].graph.count)
		return 0;
	return key;
}

/* Return: the path's place + 1; 0: no memory. */
static size_t path_of(struct paths_cost *cost, uint64_t key)
{
	uint64_t *place;

	if (array_reserve(&cost->paths, &cost->path_capacity, cost->path_count + 1,
			  sizeof(*cost->paths)) < 0)
		return 0;
	place = u64_map_insert(&cost->index, key);
	if (place == NULL)
		return 0;
	if (*place == 0) {
		cost->paths[cost->path_count++] = (struct cost_path){.key = key};
		*place = cost->path_count;
	}
	return *place;
}

/* --- groups --------------------------------------------------------------- */

static bool cost_is_same(const struct paths_cost *cost, const struct cost_group *group,
			 const struct cost_member *members, uint32_t count, bool is_long)
{
	return group->members == count && group->is_long == is_long &&
	       memcmp(cost->members + group->first, members, count * sizeof(*members)) == 0;
}

static int add_new_group(struct paths_cost *cost, const struct cost_member *members, uint32_t count,
			 bool is_long)
{
	if (array_reserve(&cost->members, &cost->member_capacity, cost->member_count + count,
			  sizeof(*cost->members)) < 0 ||
	    array_reserve(&cost->groups, &cost->group_capacity, cost->group_count + 1,
			  sizeof(*cost->groups)) < 0)
		return -ENOMEM;
	memcpy(cost->members + cost->member_count, members, count * sizeof(*members));
	cost->groups[cost->group_count++] = (struct cost_group){
		.first = cost->member_count, .members = count, .is_long = is_long};
	cost->member_count += count;
	return 0;
}

/* Return the group with these paths, which is added if there was none; NULL: no memory. */
static struct cost_group *group_of(struct paths_cost *cost, const struct cost_member *members,
				   uint32_t count, bool is_long)
{
	uint64_t hash = count + (is_long ? SPREAD : 0);

	for (uint32_t m = 0; m < count; m++)
		hash = (hash ^ ((uint64_t)members[m].path << 32 | members[m].times)) * SPREAD +
		       (hash >> 29);
	for (;; hash++) {
		uint64_t *place = u64_map_insert(&cost->same, hash);

		if (place == NULL)
			return NULL;
		if (*place == 0) {
			if (add_new_group(cost, members, count, is_long) < 0) {
				u64_map_remove(&cost->same, hash);
				return NULL;
			}
			*place = cost->group_count;
		}
		if (cost_is_same(cost, &cost->groups[*place - 1], members, count, is_long))
			return &cost->groups[*place - 1];
	}
}

static int cost_by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* A group with an unknown path is left out. */
static int add_group(struct paths_cost *cost, const struct trace_reader *trace_reader,
		     const uint32_t *slots, uint32_t count, int64_t time)
{
	struct cost_member members[PATHS_TRACE_SLOTS];
	uint32_t paths[PATHS_TRACE_SLOTS], different = 0;
	struct cost_group *group;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t key = key_of_slot(cost, trace_reader, slots[i]);
		size_t place;

		if (key == 0)
			return 0;
		place = path_of(cost, key);
		if (place == 0)
			return -ENOMEM;
		paths[i] = (uint32_t)(place - 1);
	}
	qsort(paths, count, sizeof(*paths), cost_by_number);
	for (uint32_t i = 0; i < count; i++) {
		if (different > 0 && members[different - 1].path == paths[i])
			members[different - 1].times++;
		else
			members[different++] = (struct cost_member){paths[i], 1};
	}
	group = group_of(cost, members, different, time >= LONG_CYCLES);
	if (group == NULL)
		return -ENOMEM;
	group->time += (double)time;
	group->count++;
	return 0;
}

/*
 * Add a group of @count paths in the slots after its time, which ended at @end. The first paths of
 * a burst are left out, since the code that records is not in the caches then. When a thread
 * starts, its own code would not be, either.
 */
static int add_between(struct paths_cost *cost, struct trace_reader *trace_reader,
		       const uint32_t *slots, uint32_t count, uint64_t end)
{
	uint64_t began;
	int64_t time;

	memcpy(&began, slots, sizeof(began));
	time = (int64_t)(end - began);
	if (began == 0 || time <= 0 || time >= BURST_CYCLES) {
		trace_reader->in_burst = 0;
		trace_reader->first_burst &= began == 0;
		return 0;
	}
	trace_reader->in_burst += count;
	if ((!trace_reader->first_burst &&
	     trace_reader->in_burst <= trace_reader->map->burst / 2) ||
	    (trace_reader->page_begins && count == PATHS_TRACE_FIRST))
		return 0;
	return add_group(cost, trace_reader, slots + 2, count, time);
}

/* @next: the time after the cell */
static int add_cell(struct paths_cost *cost, struct trace_reader *trace_reader,
		    const struct paths_trace_cell *cell, uint64_t next)
{
	uint64_t starts = PATHS_TRACE_STARTS;
	int r = 0;

	while (r == 0 && starts != 0) {
		uint32_t start = (uint32_t)__builtin_ctzll(starts), end = PATHS_TRACE_SLOTS;
		uint64_t ended = next;

		starts &= starts - 1;
		if (starts != 0) {
			end = (uint32_t)__builtin_ctzll(starts);
			memcpy(&ended, cell->slots + end, sizeof(ended));
		}
		r = add_between(cost, trace_reader, cell->slots + start, end - start - 2, ended);
	}
	return r;
}

static int add_clocks(struct paths_cost *cost, const struct paths_trace_head *head)
{
	size_t count = cost->clock_count + PATHS_TRACE_CLOCKS;

	if (array_reserve(&cost->clocks, &cost->clock_capacity, count, sizeof(*cost->clocks)) < 0 ||
	    array_reserve(&cost->empty, &cost->empty_capacity, count, sizeof(*cost->empty)) < 0)
		return -ENOMEM;
	memcpy(cost->clocks + cost->clock_count, head->clocks, sizeof(head->clocks));
	memcpy(cost->empty + cost->clock_count, head->empty, sizeof(head->empty));
	cost->clock_count = count;
	return 0;
}

/* Each cell is added when the next one is known. */
static int add_cells(struct paths_cost *cost, struct trace_reader *trace_reader, uint64_t block,
		     uint64_t at)
{
	struct paths_trace_cell cells[READ_CELLS + 1];
	int r = 0;

	memset(&cells[0], 0, sizeof(cells[0]));
	for (uint32_t done = 0; r == 0 && done < PATHS_TRACE_CELLS; done += READ_CELLS) {
		uint64_t from = at + (uint64_t)done * sizeof(*cells);

		if (profile_file_hole(trace_reader->file, block, from) >=
		    READ_CELLS * sizeof(*cells)) {
			memset(&cells[0], 0, sizeof(cells[0]));
			continue;
		}
		r = profile_file_read(trace_reader->file, block, from, cells + 1,
				      READ_CELLS * sizeof(*cells));
		for (uint32_t i = 0; r == 0 && i < READ_CELLS; i++) {
			uint64_t next;

			memcpy(&next, cells[i + 1].slots, sizeof(next));
			if (done + i == 0)
				trace_reader->first_burst = next == 0;
			trace_reader->page_begins =
				(from + i * sizeof(*cells)) % PAGE_BYTES == sizeof(*cells);
			r = add_cell(cost, trace_reader, &cells[i], next);
		}
		cells[0] = cells[READ_CELLS];
	}
	return r;
}

int paths_cost_add(struct paths_cost *cost, const struct paths_map *map,
		   const struct profile_file *file, uint64_t block,
		   const struct paths_entry *entries)
{
	struct trace_reader trace_reader = {.map = map, .file = file, .entries = entries};
	struct paths_trace_head head;
	uint64_t at = paths_map_trace(map);
	int r = profile_file_read(file, block, at, &head, sizeof(head));

	if (r < 0 || head.cursor == 0)
		return r;
	r = find_ranges(cost, map);
	if (r == 0)
		r = add_clocks(cost, &head);
	return r == 0 ? add_cells(cost, &trace_reader, block, at + sizeof(head)) : r;
}

/* --- the solution --------------------------------------------------------- */

static double insns_of(const struct paths_procedure *procedure, uint32_t number)
{
	const struct path_graph *graph = &procedure->graph;
	uint32_t rest, node = path_graph_begin(graph, number, &rest);
	double insns = 0;

	for (uint32_t i = 0; node != PATH_NONE && i < graph->node_count; i++) {
		uint32_t path_edge = path_graph_next(graph, node, &rest);

		insns += procedure->nodes[node].insns;
		if (path_edge == PATH_NONE || graph->path_edges[path_edge].kind != PATH_ON)
			break;
		node = graph->path_edges[path_edge].to;
	}
	return insns > 0 ? insns : 1;
}

static double quantile(const uint32_t *sorted, size_t count, unsigned int quarters)
{
	return count > 0 ? sorted[(count - 1) * quarters / 4] : 0;
}

/* Compute the time to read the clock, and to record an empty path. */
static void calibrate(struct paths_cost *cost)
{
	size_t count = cost->clock_count;
	double all[5];

	qsort(cost->clocks, count, sizeof(*cost->clocks), cost_by_number);
	qsort(cost->empty, count, sizeof(*cost->empty), cost_by_number);
	cost->clock = quantile(cost->clocks, count, 2);
	for (unsigned int q = 1; q <= 3; q++) {
		double paths = quantile(cost->empty, count, q) - cost->clock;

		all[q] = paths > 0 ? paths / PATHS_TRACE_EMPTY_PATHS : 0;
	}
	cost->recording_low = all[1];
	cost->recording = all[2];
	cost->recording_high = all[3];
	if (cost->clock < 1)
		cost->clock = 1;
}

/* Return true if a group of unusual length has a path that usually is in such groups. */
static bool is_usual(const struct paths_cost *cost, const struct cost_group *group)
{
	for (uint32_t m = 0; m < group->members; m++) {
		const struct cost_path *path = &cost->paths[cost->members[group->first + m].path];

		if (path->long_groups >= LONG_GROUPS && 4 * path->long_groups >= 3 * path->groups)
			return true;
	}
	return !group->is_long;
}

/* Leave out groups in which the thread was interrupted. */
static void choose_groups(struct paths_cost *cost)
{
	size_t kept = 0;

	for (size_t g = 0; g < cost->group_count; g++) {
		const struct cost_group *group = &cost->groups[g];

		for (uint32_t m = 0; m < group->members; m++) {
			struct cost_path *path = &cost->paths[cost->members[group->first + m].path];

			path->groups += group->count;
			path->long_groups += group->is_long ? group->count : 0;
		}
	}
	for (size_t g = 0; g < cost->group_count; g++) {
		struct cost_group group = cost->groups[g];

		if (!is_usual(cost, &group)) {
			cost->interrupted += group.count;
			continue;
		}
		cost->used += group.count;
		cost->groups[kept++] = group;
	}
	cost->group_count = kept;
}

/* Count executions, and begin with the same cycles per instruction everywhere. */
static void begin_costs(struct paths_cost *cost, const struct paths_map *map)
{
	double time = 0, insns = 0;

	for (size_t g = 0; g < cost->group_count; g++) {
		const struct cost_group *group = &cost->groups[g];

		time += group->time;
		for (uint32_t m = 0; m < group->members; m++) {
			const struct cost_member *member = &cost->members[group->first + m];

			cost->paths[member->path].executions += member->times * group->count;
		}
	}
	for (size_t p = 0; p < cost->path_count; p++) {
		struct cost_path *path = &cost->paths[p];

		path->insns =
			insns_of(&map->procedures[(path->key >> 32) - 1], (uint32_t)path->key);
		insns += path->insns * (double)path->executions;
	}
	for (size_t p = 0; p < cost->path_count; p++)
		cost->paths[p].cycles = cost->paths[p].insns * time / insns;
}

static double expected_time(const struct paths_cost *cost, const struct cost_group *group)
{
	double time = cost->clock;

	for (uint32_t m = 0; m < group->members; m++) {
		const struct cost_member *member = &cost->members[group->first + m];

		time += member->times * cost->paths[member->path].cycles;
	}
	return time;
}

static void iterate(struct paths_cost *cost)
{
	double clock = 0;

	for (size_t p = 0; p < cost->path_count; p++)
		cost->paths[p].part = 0;
	for (size_t g = 0; g < cost->group_count; g++) {
		const struct cost_group *group = &cost->groups[g];
		double ratio = group->time / expected_time(cost, group);

		clock += ratio;
		for (uint32_t m = 0; m < group->members; m++) {
			const struct cost_member *member = &cost->members[group->first + m];

			cost->paths[member->path].part += ratio * member->times;
		}
	}
	cost->clock *= clock / (double)cost->used;
	for (size_t p = 0; p < cost->path_count; p++) {
		struct cost_path *path = &cost->paths[p];

		if (path->executions > 0)
			path->cycles *= path->part / (double)path->executions;
	}
}

void paths_cost_solve(struct paths_cost *cost, const struct paths_map *map)
{
	choose_groups(cost);
	if (cost->used == 0)
		return;
	calibrate(cost);
	begin_costs(cost, map);
	for (unsigned int i = 0; i < ITERATIONS; i++)
		iterate(cost);
	for (size_t p = 0; p < cost->path_count; p++) {
		struct cost_path *path = &cost->paths[p];
		double least = path->insns / INSNS_A_CYCLE;

		path->cycles -= cost->recording;
		if (path->cycles < least)
			path->cycles = least;
	}
}

uint64_t paths_cost_find(const struct paths_cost *cost, uint64_t key, double *cycles)
{
	const uint64_t *place = u64_map_find(&cost->index, key);

	if (place == NULL)
		return 0;
	*cycles = cost->paths[*place - 1].cycles;
	return cost->paths[*place - 1].executions;
}
