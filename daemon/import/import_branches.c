// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/import_branches.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/counter_set.h"
#include "daemon/collect/edge_accumulate.h"
#include "daemon/collect/merge.h"
#include "daemon/image/image_table.h"
#include "daemon/import/branch_stack.h"
#include "daemon/import/import_images.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define MEMORY_BYTES ((size_t)256 << 20)
/* Threshold for a merge, before the limit causes edges to be refused. */
#define MEMORY_FULL (MEMORY_BYTES / 8 * 7)
/* Larger weights are invalid, and would overflow when they are added. */
#define WEIGHT_MAX 1e12

/* @unknown: edges with an end in no image */
struct import_branches {
	struct import_images *images;
	struct edge_accumulate *edges;
	struct branch_stack_faults faults;
	uint64_t stacks;
	uint64_t damaged;
	uint64_t handed;
	uint64_t unknown;
};

int import_branches_create(struct import_branches **ret, struct import_images *images,
			   struct error *err)
{
	struct import_branches *branches = calloc(1, sizeof(*branches));
	int r;

	if (branches == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	branches->images = images;
	r = edge_accumulate_create(&branches->edges, MEMORY_BYTES, err);
	if (r < 0)
		free(branches);
	else
		*ret = branches;
	return r;
}

void import_branches_destroy(struct import_branches *branches)
{
	if (branches == NULL)
		return;
	edge_accumulate_destroy(branches->edges);
	free(branches);
}

static struct image_place place_of(const struct import_branches *branches,
				   const struct perfdata_sample *sample, uint64_t address)
{
	struct perfdata_sample there = *sample;

	there.ip = address;
	return import_images_place(branches->images, &there);
}

static bool place_is_known(const struct image_place *place)
{
	return place->image != IMAGE_UNKNOWN && place->offset <= PROFILE_EDGE_OFFSET_MAX;
}

static void import_branches_count(struct import_branches *branches, enum profile_edge_kind kind,
				  const struct image_place *from, const struct image_place *to,
				  uint64_t count)
{
	const struct edge_key key = {.image = from->image, .to_image = to->image, .kind = kind};

	if (count > 0)
		edge_accumulate_add(branches->edges, &key, from->offset, to->offset, count);
}

static void range_add(struct import_branches *branches, const struct perfdata_sample *sample,
		      const struct branch_run *run, const struct image_place *end)
{
	struct image_place start = place_of(branches, sample, run->start);
	double weight = run->weight < WEIGHT_MAX ? run->weight : WEIGHT_MAX;

	if (!place_is_known(&start) || start.image != end->image ||
	    end->offset - start.offset != run->end - run->start)
		return;
	import_branches_count(branches, PROFILE_EDGE_RANGE, &start, end, 1);
	if (weight <= 0)
		return;
	import_branches_count(branches, PROFILE_EDGE_RANGE_WEIGHT, &start, end,
			      (uint64_t)(weight * PROFILE_EDGE_PART) + 1);
	import_branches_count(branches, PROFILE_EDGE_RANGE_CYCLES, &start, end,
			      (uint64_t)(weight * run->cycles + 0.5));
}

/* The run that a sample of time interrupted. */
static void sampled_add(struct import_branches *branches, const struct perfdata_sample *sample,
			const struct perfdata_words *records)
{
	uint64_t last = branch_stack_last(records);
	struct image_place start, end;

	if (last == 0 || sample->ip < last)
		return;
	start = place_of(branches, sample, last);
	end = place_of(branches, sample, sample->ip);
	if (place_is_known(&start) && place_is_known(&end) && start.image == end.image &&
	    end.offset - start.offset == sample->ip - last)
		import_branches_count(branches, PROFILE_EDGE_RANGE_SAMPLED, &start, &end, 1);
}

void import_branches_add(struct import_branches *branches, const struct perfdata_event *event,
			 const struct perfdata_sample *sample, const struct perfdata_words *records)
{
	/* With another filter, taken branches that were not recorded are between two records. */
	bool ranges = (event->branch_type & PERF_SAMPLE_BRANCH_ANY) != 0;
	struct branch_run runs[BRANCH_RUNS_MAX];
	size_t count;

	if (records == NULL) {
		branches->damaged++;
		return;
	}
	branches->stacks += records->count > 0;
	count = branch_stack_runs(runs, records, event, sample->period, &branches->faults);
	if (ranges && strcmp(event->unit, "cycles") == 0)
		sampled_add(branches, sample, records);
	for (size_t i = 0; i < count; i++) {
		struct image_place end = place_of(branches, sample, runs[i].end);
		struct image_place target = place_of(branches, sample, runs[i].target);

		branches->handed++;
		if (place_is_known(&end) && place_is_known(&target))
			import_branches_count(branches, PROFILE_EDGE_RECORD, &end, &target, 1);
		else
			branches->unknown++;
		if (ranges && place_is_known(&end))
			range_add(branches, sample, &runs[i], &end);
	}
}

bool import_branches_full(const struct import_branches *branches)
{
	return edge_accumulate_bytes(branches->edges) > MEMORY_FULL;
}

int import_branches_merge(struct import_branches *branches, struct merge *merge,
			  struct merge_result *result, struct error *err)
{
	int r;

	result->edge_bins = 0;
	r = merge_edges(merge, branches->edges, SIZE_MAX, result, err);
	if (r == 0)
		edge_accumulate_drop(branches->edges, result->edge_bins);
	return r;
}

void import_branches_counters(const struct import_branches *branches, struct counter_set *tally)
{
	counter_set_put(tally, "stat", "edges_handed", branches->handed);
	counter_set_put(tally, "stat", "edges_unknown", branches->unknown);
	counter_set_put(tally, "stat", "edges_memory", edge_accumulate_refused(branches->edges));
	counter_set_put(tally, "stat", "branch_stacks", branches->stacks);
	counter_set_put(tally, "stat", "branch_damaged", branches->damaged);
	counter_set_put(tally, "stat", "branch_invalid", branches->faults.invalid);
	counter_set_put(tally, "stat", "branch_speculative", branches->faults.speculative);
}
