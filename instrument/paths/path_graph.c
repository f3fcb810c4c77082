// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/path_graph.h"

#include <stdlib.h>

void path_graph_deinit(struct path_graph *graph)
{
	free(graph->path_edges);
	free(graph->first);
	free(graph->starts);
	free(graph->known);
	*graph = (struct path_graph){0};
}

uint32_t path_graph_start(const struct path_graph *graph, uint32_t node)
{
	uint32_t low = 0, high = graph->start_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (graph->starts[middle].node < node)
			low = middle + 1;
		else
			high = middle;
	}
	return low < graph->start_count && graph->starts[low].node == node
		       ? graph->starts[low].number
		       : PATH_NONE;
}

uint32_t path_graph_begin(const struct path_graph *graph, uint32_t number, uint32_t *rest)
{
	uint32_t low = 0, high = graph->start_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (graph->starts[middle].number <= number)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return PATH_NONE;
	*rest = number - graph->starts[low - 1].number;
	return graph->starts[low - 1].node;
}

uint32_t path_graph_next(const struct path_graph *graph, uint32_t node, uint32_t *rest)
{
	uint32_t low = graph->first[node], high = graph->first[node + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (graph->path_edges[middle].value <= *rest)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == graph->first[node])
		return PATH_NONE;
	*rest -= graph->path_edges[low - 1].value;
	return low - 1;
}
