// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/paths_listing.h"

#include <errno.h>
#include <stdlib.h>

#include "instrument/paths/paths_recording.h"
#include "lib/u64_map.h"

double paths_listing_share(const struct paths_listing *listing, uint64_t insns, uint64_t metric)
{
	uint64_t all = listing->metric ? listing->all.metric : listing->all.insns;

	return all > 0 ? (double)(listing->metric ? metric : insns) / (double)all : 0;
}

static enum paths_class class_of(const struct paths_listing *listing, uint64_t insns,
				 uint64_t metric)
{
	if (paths_listing_share(listing, insns, metric) < listing->threshold)
		return PATHS_COLD;
	if (!listing->metric)
		return PATHS_HOT;
	return (double)metric * (double)listing->all.insns >
			       (double)listing->all.metric * (double)insns
		       ? PATHS_DENSE
		       : PATHS_SPARSE;
}

/* --- paths ---------------------------------------------------------------- */

/* Follow a path by its number; @nodes: room for all nodes of the procedure, or NULL. */
static int paths_listing_follow(const struct paths_procedure *procedure, struct paths_row *row,
				const struct counts_node **nodes)
{
	const struct path_graph *graph = &procedure->graph;
	uint32_t rest, node = path_graph_begin(graph, row->sum->number, &rest);
	uint64_t insns = 0;

	row->node_count = 0;
	while (node != PATH_NONE && row->node_count < graph->node_count) {
		uint32_t path_edge = path_graph_next(graph, node, &rest);

		if (nodes != NULL)
			nodes[row->node_count] = &procedure->nodes[node];
		row->node_count++;
		insns += procedure->nodes[node].insns;
		if (path_edge == PATH_NONE)
			return -EBADMSG;
		node = graph->path_edges[path_edge].to;
		if (graph->path_edges[path_edge].kind == PATH_ON)
			continue;
		row->next = node != PATH_NONE ? procedure->nodes[node].address : 0;
		row->insns = insns * row->sum->count;
		return rest == 0 ? 0 : -EBADMSG;
	}
	return -EBADMSG;
}

static uint64_t metric_of(const struct paths_sum *sum)
{
	if (sum->timed == sum->count)
		return sum->metric;
	if (sum->timed == 0)
		return 0;
	return (uint64_t)((double)sum->metric * ((double)sum->count / (double)sum->timed));
}

static void add_sums(struct paths_listing *listing, struct paths_row *row)
{
	row->metric = metric_of(row->sum);
	listing->all.count += row->sum->count;
	listing->all.insns += row->insns;
	listing->all.metric += row->metric;
	listing->all.timed += row->sum->timed;
	listing->all.untimed += row->sum->timed == 0 ? row->insns : 0;
}

static int add_paths(struct paths_listing *listing)
{
	for (size_t i = 0; i < listing->profile->sum_count; i++) {
		const struct paths_sum *sum = &listing->profile->sums[i];
		const struct paths_procedure *procedure = &listing->map->procedures[sum->procedure];
		struct paths_row *row = &listing->paths[listing->path_count];
		int r;

		*row = (struct paths_row){.sum = sum};
		r = paths_listing_follow(procedure, row, NULL);
		if (r < 0)
			return r;
		row->nodes = calloc(row->node_count + 1, sizeof(*row->nodes));
		if (row->nodes == NULL)
			return -ENOMEM;
		listing->path_count++;
		r = paths_listing_follow(procedure, row, row->nodes);
		if (r < 0)
			return r;
		add_sums(listing, row);
	}
	return 0;
}

static int add_recorded(struct paths_listing *listing, const struct paths_recorded *recorded)
{
	for (size_t i = 0; i < listing->profile->sum_count; i++) {
		const struct paths_gone *gone = &recorded->gone[i];
		struct paths_row *row = &listing->paths[listing->path_count];
		uint64_t insns = 0;

		*row = (struct paths_row){
			.sum = &listing->profile->sums[i],
			.nodes = calloc(gone->steps + 1, sizeof(*row->nodes)),
			.node_count = gone->steps,
			.next = gone->next,
		};
		if (row->nodes == NULL)
			return -ENOMEM;
		listing->path_count++;
		for (size_t s = 0; s < gone->steps; s++) {
			row->nodes[s] = &recorded->steps[gone->first + s];
			insns += row->nodes[s]->insns;
		}
		row->insns = insns * row->sum->count;
		add_sums(listing, row);
	}
	return 0;
}

/* --- procedures ----------------------------------------------------------- */

/* Paths are still sorted by procedure here. */
static void add_procedures(struct paths_listing *listing)
{
	for (size_t i = 0; i < listing->path_count; i++) {
		const struct paths_row *path = &listing->paths[i];
		struct paths_procedure_row *row = &listing->procedures[listing->procedure_count];

		if (i > 0 && path[-1].sum->procedure == path->sum->procedure)
			row--;
		else
			listing->procedure_count++;
		row->procedure = path->sum->procedure;
		row->paths++;
		row->hot += path->class != PATHS_COLD;
		row->count += path->sum->count;
		row->insns += path->insns;
		row->metric += path->metric;
	}
	for (size_t i = 0; i < listing->procedure_count; i++) {
		struct paths_procedure_row *row = &listing->procedures[i];

		row->class = class_of(listing, row->insns, row->metric);
	}
}

/* Count a path in each of its blocks, which it passes once; -ENOMEM. */
static int count_in_blocks(struct u64_map *blocks, const struct paths_row *row)
{
	for (size_t i = 0; i < row->node_count; i++) {
		const struct counts_node *node = row->nodes[i];
		uint64_t *count = node->insns > 0 ? u64_map_insert(blocks, node->address) : NULL;

		if (node->insns > 0 && count == NULL)
			return -ENOMEM;
		if (count != NULL)
			++*count;
	}
	return 0;
}

/* Compute the number of paths through blocks of hot paths, as Ammons, Ball and Larus do. */
static int find_hot_blocks(struct paths_listing *listing)
{
	struct u64_map all = {0}, hot = {0};
	uint64_t address, count;
	size_t cursor = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < listing->path_count; i++) {
		const struct paths_row *row = &listing->paths[i];

		r = count_in_blocks(&all, row);
		if (r == 0 && row->class != PATHS_COLD)
			r = count_in_blocks(&hot, row);
	}
	while (r == 0 && u64_map_next(&hot, &cursor, &address, &count)) {
		const uint64_t *through = u64_map_find(&all, address);

		listing->hot_blocks++;
		listing->through_hot += count;
		listing->through += through != NULL ? *through : count;
	}
	u64_map_deinit(&all);
	u64_map_deinit(&hot);
	return r;
}

static int paths_listing_by_value(const void *a, const void *b, void *context)
{
	const struct paths_listing *listing = context;
	const struct paths_row *x = a, *y = b;
	uint64_t left = listing->metric ? x->metric : x->insns;
	uint64_t right = listing->metric ? y->metric : y->insns;

	if (left != right)
		return left < right ? 1 : -1;
	return x->sum < y->sum ? -1 : 1;
}

static int by_hot(const void *a, const void *b, void *context)
{
	const struct paths_listing *listing = context;
	const struct paths_procedure_row *x = a, *y = b;
	uint64_t left = listing->metric ? x->metric : x->insns;
	uint64_t right = listing->metric ? y->metric : y->insns;

	if (x->hot != y->hot)
		return x->hot < y->hot ? 1 : -1;
	if (left != right)
		return left < right ? 1 : -1;
	return x->procedure < y->procedure ? -1 : 1;
}

/* @recorded: NULL: derive the blocks of a path from the map. */
static int paths_listing_do_make(struct paths_listing *ret, const struct paths_map *map,
				 const struct paths_profile *profile,
				 const struct paths_recorded *recorded, double threshold)
{
	struct paths_listing listing = {
		.map = map,
		.profile = profile,
		.paths = calloc(profile->sum_count + 1, sizeof(*listing.paths)),
		.procedures = calloc(map->procedure_count + 1, sizeof(*listing.procedures)),
		.threshold = threshold,
		.metric = *map->metric != '\0',
	};
	int r = -ENOMEM;

	if (listing.paths != NULL && listing.procedures != NULL)
		r = recorded != NULL ? add_recorded(&listing, recorded) : add_paths(&listing);
	if (r < 0) {
		paths_listing_deinit(&listing);
		return r;
	}
	for (size_t i = 0; i < listing.path_count; i++) {
		struct paths_row *row = &listing.paths[i];

		row->class = class_of(&listing, row->insns, row->metric);
	}
	r = find_hot_blocks(&listing);
	if (r < 0) {
		paths_listing_deinit(&listing);
		return r;
	}
	add_procedures(&listing);
	if (listing.path_count > 0) {
		qsort_r(listing.paths, listing.path_count, sizeof(*listing.paths),
			paths_listing_by_value, &listing);
		qsort_r(listing.procedures, listing.procedure_count, sizeof(*listing.procedures),
			by_hot, &listing);
	}
	*ret = listing;
	return 0;
}

int paths_listing_make(struct paths_listing *ret, const struct paths_map *map,
		       const struct paths_profile *profile, double threshold)
{
	return paths_listing_do_make(ret, map, profile, NULL, threshold);
}

int paths_listing_make_recorded(struct paths_listing *ret, const struct paths_recorded *recorded,
				double threshold)
{
	return paths_listing_do_make(ret, &recorded->map, &recorded->profile, recorded, threshold);
}

void paths_listing_deinit(struct paths_listing *listing)
{
	for (size_t i = 0; i < listing->path_count; i++)
		free(listing->paths[i].nodes);
	free(listing->paths);
	free(listing->procedures);
	*listing = (struct paths_listing){0};
}
