// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_counts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/*
 * From @offset on, the executions and the processes that counted ("watchers") change by these
 * numbers.
 */
struct step {
	uint64_t offset;
	int64_t executions;
	int64_t watchers;
};

struct load {
	const struct image_code *code;
	struct step *steps;
	size_t step_count;
	size_t step_capacity;
	struct branch_count *edges;
	size_t edge_count;
	size_t edge_capacity;
	struct exact_range *ranges;
	size_t range_count;
	size_t range_capacity;
	int64_t last_epoch;
	size_t epochs;
};

static void load_deinit(struct load *load)
{
	free(load->steps);
	free(load->edges);
	free(load->ranges);
}

static int add_range(struct load *load, const struct profile_edge *range, bool watched)
{
	int64_t count = (int64_t)range->count;

	if (range->to <= range->from)
		return 0;
	if (array_reserve(&load->steps, &load->step_capacity, load->step_count + 2,
			  sizeof(*load->steps)) < 0)
		return -ENOMEM;
	load->steps[load->step_count++] =
		(struct step){range->from, watched ? 0 : count, watched ? count : 0};
	load->steps[load->step_count++] =
		(struct step){range->to, watched ? 0 : -count, watched ? -count : 0};
	return 0;
}

static int calc_counts_add_edge(struct load *load, const struct profile_edge *edge)
{
	struct branch_count *branch;

	if (array_reserve(&load->edges, &load->edge_capacity, load->edge_count + 1,
			  sizeof(*load->edges)) < 0)
		return -ENOMEM;
	branch = &load->edges[load->edge_count];
	*branch = (struct branch_count){.count = (double)edge->count};
	if (image_code_address(load->code, edge->from, &branch->from) == 0 &&
	    image_code_address(load->code, edge->to, &branch->to) == 0)
		load->edge_count++;
	return 0;
}

static int take_counts(void *context, const struct profile_counts *counts)
{
	struct load *load = context;
	int r = 0;

	load->epochs += counts->epoch != load->last_epoch;
	load->last_epoch = counts->epoch;
	for (size_t i = 0; r == 0 && i < counts->count; i++) {
		const struct profile_edge *count = &counts->counts[i];

		if (counts->kind == PROFILE_COUNT_EDGE)
			r = calc_counts_add_edge(load, count);
		else
			r = add_range(load, count, counts->kind == PROFILE_COUNT_WATCHED);
	}
	return r;
}

static int by_offset(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int by_ends(const void *a, const void *b)
{
	const struct branch_count *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/*
 * Advance to the next range with constant sums. Return: false at the end; else @sum applies from
 * @sum->offset to @end.
 */
static bool next_span(const struct load *load, size_t *next, struct step *sum, uint64_t *end)
{
	size_t i = *next;

	if (i == load->step_count)
		return false;
	sum->offset = load->steps[i].offset;
	for (; i < load->step_count && load->steps[i].offset == sum->offset; i++) {
		sum->executions += load->steps[i].executions;
		sum->watchers += load->steps[i].watchers;
	}
	*next = i;
	*end = i < load->step_count ? load->steps[i].offset : sum->offset;
	return true;
}

static int64_t most_watchers(const struct load *load)
{
	struct step sum = {0};
	int64_t most = 0;
	uint64_t end;

	for (size_t next = 0; next_span(load, &next, &sum, &end);)
		most = sum.watchers > most ? sum.watchers : most;
	return most;
}

/* Add a range. File offsets and addresses are in the same order only within a segment. */
static int add_span(struct load *load, const struct step *sum, uint64_t end)
{
	struct exact_range *range;

	if (array_reserve(&load->ranges, &load->range_capacity, load->range_count + 1,
			  sizeof(*load->ranges)) < 0)
		return -ENOMEM;
	range = &load->ranges[load->range_count];
	range->count = (double)sum->executions;
	if (image_code_address(load->code, sum->offset, &range->start) < 0)
		return 0;
	range->end = range->start + (end - sum->offset);
	load->range_count++;
	return 0;
}

static int calc_counts_by_start(const void *a, const void *b)
{
	const struct exact_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int settle_ranges(struct load *load, uint64_t *processes)
{
	struct step sum = {0};
	int64_t all;
	uint64_t end;

	qsort(load->steps, load->step_count, sizeof(*load->steps), by_offset);
	all = most_watchers(load);
	for (size_t next = 0; next_span(load, &next, &sum, &end);) {
		if (sum.watchers == all && sum.executions > 0 && add_span(load, &sum, end) < 0)
			return -ENOMEM;
	}
	if (load->range_count > 0)
		qsort(load->ranges, load->range_count, sizeof(*load->ranges), calc_counts_by_start);
	*processes = (uint64_t)all;
	return 0;
}

static void settle_edges(struct load *load)
{
	size_t kept = 0;

	if (load->edge_count > 0)
		qsort(load->edges, load->edge_count, sizeof(*load->edges), by_ends);
	for (size_t i = 0; i < load->edge_count; i++) {
		if (kept > 0 && by_ends(&load->edges[kept - 1], &load->edges[i]) == 0)
			load->edges[kept - 1].count += load->edges[i].count;
		else
			load->edges[kept++] = load->edges[i];
	}
	load->edge_count = kept;
}

int calc_counts_load(struct calc_counts *ret, struct profile_reader *reader, int64_t image,
		     const struct image_code *code, struct error *err)
{
	const struct profile_filter filter = {.image = image};
	_cleanup_(load_deinit) struct load load = {.code = code};
	struct calc_counts counts = {.scale = {.value = 1, .low = 1, .high = 1, .agree = 1}};
	int r = profile_reader_counts(reader, &filter, take_counts, &load, err);

	if (r == 0 && load.step_count > 0)
		r = settle_ranges(&load, &counts.processes);
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r < 0)
		return r;
	settle_edges(&load);
	counts.epochs = load.epochs;
	counts.exact.ranges = take_ptr(load.ranges);
	counts.exact.range_count = load.range_count;
	counts.exact.edges = take_ptr(load.edges);
	counts.exact.edge_count = load.edge_count;
	*ret = counts;
	calc_counts_set_scale(ret, &counts.scale);
	return 0;
}

void calc_counts_set_scale(struct calc_counts *counts, const struct exact_scale *scale)
{
	counts->scale = *scale;
	counts->exact.scale = scale->value;
	counts->exact.scale_low = scale->low;
	counts->exact.scale_high = scale->high;
}

void calc_counts_deinit(struct calc_counts *counts)
{
	free((void *)(uintptr_t)counts->exact.ranges);
	free((void *)(uintptr_t)counts->exact.edges);
	*counts = (struct calc_counts){0};
}
