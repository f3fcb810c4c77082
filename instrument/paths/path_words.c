// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/path_words.h"

#include <errno.h>
#include <stdlib.h>

#include "instrument/mode/mode.h"

/* Longer iterations take longer than the store-to-load latency of a counter. */
#define SMALL_LOOP_INSNS 32

/* Return true if an edge is a complete small loop with a single block and a known path number. */
static bool is_small_loop(const struct path_edge *way, const struct count_graph *counts)
{
	const struct count_edge *edge = &counts->edges[way->edge];

	return way->kind == PATH_CUT && way->counted == PATH_CUT && way->end_known &&
	       way->change == PATH_KEEP && edge->kind == COUNT_TAKEN && edge->from == edge->to &&
	       counts->nodes[edge->from].count <= SMALL_LOOP_INSNS;
}

static int by_weight(const void *a, const void *b, void *context)
{
	const struct path_edge *ways = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (ways[i].weight != ways[k].weight)
		return ways[i].weight > ways[k].weight ? -1 : 1;
	return i < k ? -1 : 1;
}

static uint32_t order_known(uint32_t *order, const struct path_graph *graph)
{
	uint32_t count = 0;

	for (uint32_t w = 0; w < graph->way_count; w++) {
		if (graph->ways[w].counted != PATH_ON && graph->ways[w].end_known)
			order[count++] = w;
	}
	qsort_r(order, count, sizeof(*order), by_weight, graph->ways);
	return count;
}

int path_words_find(struct path_words *ret, const struct path_graph *graph,
		    const struct count_graph *counts, bool any)
{
	size_t ways = graph->way_count + (size_t)1;
	uint32_t *order = calloc(ways, sizeof(*order)), count;

	*ret = (struct path_words){
		.of = malloc(ways * sizeof(*ret->of)),
		.small = calloc(ways, sizeof(*ret->small)),
		.paths = calloc(ways * MODE_LOOP_TURNS, sizeof(*ret->paths)),
	};
	if (order == NULL || ret->of == NULL || ret->small == NULL || ret->paths == NULL) {
		free(order);
		return -ENOMEM;
	}
	for (uint32_t w = 0; w < graph->way_count; w++)
		ret->of[w] = PATH_NONE;
	count = any ? order_known(order, graph) : 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct path_edge *way = &graph->ways[order[i]];
		bool small = is_small_loop(way, counts);

		ret->of[order[i]] = ret->count;
		ret->small[order[i]] = small;
		for (int turn = 0; turn < (small ? MODE_LOOP_TURNS : 1); turn++)
			ret->paths[ret->count++] = way->end;
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
