// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/path_graph.h"

#include <stdlib.h>

#include "lib/partition_point.h"

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
	uint32_t low = partition_point(0, graph->start_count, i, graph->starts[i].node < node);

	return low < graph->start_count && graph->starts[low].node == node
		       ? graph->starts[low].number
		       : PATH_NONE;
}

uint32_t path_graph_begin(const struct path_graph *graph, uint32_t number, uint32_t *rest)
{
	uint32_t low = partition_point(0, graph->start_count, i, graph->starts[i].number <= number);

	if (low == 0)
		return PATH_NONE;
	*rest = number - graph->starts[low - 1].number;
	return graph->starts[low - 1].node;
}

uint32_t path_graph_next(const struct path_graph *graph, uint32_t node, uint32_t *rest)
{
	uint32_t low = partition_point(graph->first[node], graph->first[node + 1], i,
				       graph->path_edges[i].value <= *rest);

	if (low == graph->first[node])
		return PATH_NONE;
	*rest -= graph->path_edges[low - 1].value;
	return low - 1;
}
