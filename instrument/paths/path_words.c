// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/path_words.h"

#include <errno.h>
#include <stdlib.h>

#include "instrument/mode/mode.h"

/* Longer iterations take longer than the store-to-load latency of a counter. */
#define SMALL_LOOP_INSNS 32

/* Return true if an edge is a complete small loop with a single block and a known path number. */
static bool is_small_loop(const struct path_edge *path_edge, const struct count_graph *counts)
{
	const struct count_edge *edge = &counts->edges[path_edge->edge];

	return path_edge->kind == PATH_CUT && path_edge->counted == PATH_CUT &&
	       path_edge->end_known && path_edge->change == PATH_KEEP &&
	       edge->kind == COUNT_TAKEN && edge->from == edge->to &&
	       counts->nodes[edge->from].count <= SMALL_LOOP_INSNS;
}

static int by_weight(const void *a, const void *b, void *context)
{
	const struct path_edge *path_edges = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (path_edges[i].weight != path_edges[k].weight)
		return path_edges[i].weight > path_edges[k].weight ? -1 : 1;
	return i < k ? -1 : 1;
}

static uint32_t order_known(uint32_t *order, const struct path_graph *graph)
{
	uint32_t count = 0;

	for (uint32_t w = 0; w < graph->path_edge_count; w++) {
		if (graph->path_edges[w].counted != PATH_ON && graph->path_edges[w].end_known)
			order[count++] = w;
	}
	qsort_r(order, count, sizeof(*order), by_weight, graph->path_edges);
	return count;
}

int path_words_find(struct path_words *ret, const struct path_graph *graph,
		    const struct count_graph *counts, bool any)
{
	size_t path_edges = graph->path_edge_count + (size_t)1;
	uint32_t *order = calloc(path_edges, sizeof(*order)), count;

	*ret = (struct path_words){
		.of = malloc(path_edges * sizeof(*ret->of)),
		.small = calloc(path_edges, sizeof(*ret->small)),
		.paths = calloc(path_edges * MODE_LOOP_UNROLL, sizeof(*ret->paths)),
	};
	if (order == NULL || ret->of == NULL || ret->small == NULL || ret->paths == NULL) {
		free(order);
		return -ENOMEM;
	}
	for (uint32_t w = 0; w < graph->path_edge_count; w++)
		ret->of[w] = PATH_NONE;
	count = any ? order_known(order, graph) : 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct path_edge *path_edge = &graph->path_edges[order[i]];
		bool small = is_small_loop(path_edge, counts);

		ret->of[order[i]] = ret->count;
		ret->small[order[i]] = small;
		for (int replica = 0; replica < (small ? MODE_LOOP_UNROLL : 1); replica++)
			ret->paths[ret->count++] = path_edge->end;
	}
	free(order);
	return 0;
}

void path_words_deinit(struct path_words *words)
{
	free(words->of);
	free(words->small);
	free(words->paths);
	*words = (struct path_words){0};
}
