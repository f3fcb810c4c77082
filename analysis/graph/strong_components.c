// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/strong_components.h"

#include "lib/cleanup.h"

#include <errno.h>
#include <stdlib.h>

/*
 * struct search - state of the algorithm
 * @order: when each node was discovered, from 1; 0: not yet
 * @low:   the earliest node on the stack that each node is known to reach
 * @next:  next edge of each node
 * @path:  nodes being searched, the innermost last
 * @stack: discovered nodes whose component is not known yet
 */
struct search {
	const struct strong_graph *graph;
	uint32_t *of_node;
	uint32_t *order;
	uint32_t *low;
	uint32_t *next;
	uint32_t *path;
	uint32_t *stack;
	uint32_t discovered;
	uint32_t path_count;
	uint32_t stack_count;
	uint32_t components;
};

static void discover(struct search *search, uint32_t node)
{
	search->order[node] = search->low[node] = ++search->discovered;
	search->next[node] = search->graph->first[node];
	search->path[search->path_count++] = node;
	search->stack[search->stack_count++] = node;
}

static void lower(struct search *search, uint32_t node, uint32_t to)
{
	if (search->low[node] > to)
		search->low[node] = to;
}

static void strong_components_finish(struct search *search, uint32_t node)
{
	search->path_count--;
	if (search->path_count > 0)
		lower(search, search->path[search->path_count - 1], search->low[node]);
	if (search->low[node] != search->order[node])
		return;
	for (uint32_t member = UINT32_MAX; member != node;) {
		member = search->stack[--search->stack_count];
		search->of_node[member] = search->components;
	}
	search->components++;
}

static void strong_components_search_from(struct search *search, uint32_t root)
{
	discover(search, root);
	while (search->path_count > 0) {
		uint32_t node = search->path[search->path_count - 1];
		uint32_t target;

		if (search->next[node] == search->graph->first[node + 1]) {
			strong_components_finish(search, node);
			continue;
		}
		target = search->graph->targets[search->next[node]++];
		if (target == UINT32_MAX)
			continue;
		if (search->order[target] == 0)
			discover(search, target);
		else if (search->of_node[target] == UINT32_MAX)
			lower(search, node, search->order[target]);
	}
}

int strong_components_find(uint32_t *of_node, uint32_t *count, const struct strong_graph *graph)
{
	uint32_t n = graph->nodes;
	struct search search = {.graph = graph, .of_node = of_node};
	_cleanup_free_ uint32_t *memory = calloc((size_t)n * 5 + 1, sizeof(*memory));

	if (memory == NULL)
		return -ENOMEM;
	search.order = memory;
	search.low = memory + n;
	search.next = memory + (size_t)n * 2;
	search.path = memory + (size_t)n * 3;
	search.stack = memory + (size_t)n * 4;
	for (uint32_t node = 0; node < n; node++)
		of_node[node] = UINT32_MAX;
	for (uint32_t node = 0; node < n; node++)
		if (search.order[node] == 0)
			strong_components_search_from(&search, node);
	*count = search.components;
	return 0;
}
