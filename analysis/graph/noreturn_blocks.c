// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/noreturn_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

/*
 * struct propagation - state of the propagation
 * @open_edges: number of edges out of each block that are not known to end in a stop
 * @list: @count blocks whose predecessors are to be updated
 */
struct propagation {
	uint32_t *open_edges;
	uint32_t *list;
	uint32_t count;
};

/* Record that one more edge out of a block ends in a stop. */
static void close_edge(struct propagation *propagation, bool *noreturn, uint32_t block)
{
	if (--propagation->open_edges[block] > 0)
		return;
	noreturn[block] = true;
	propagation->list[propagation->count++] = block;
}

static void close_in_edges(struct propagation *propagation, bool *noreturn, const struct cfg *cfg,
			   uint32_t block)
{
	const struct cfg_block *to = &cfg->blocks[block];

	for (uint32_t i = 0; i < to->in_count; i++) {
		uint32_t from = cfg->edges[cfg->in_edges[to->in + i]].from;

		if (from < cfg->block_count)
			close_edge(propagation, noreturn, from);
	}
}

int noreturn_blocks_find(bool *ret, const struct cfg *cfg)
{
	_cleanup_free_ uint32_t *open_edges =
		malloc(((size_t)cfg->block_count + 1) * sizeof(*open_edges));
	_cleanup_free_ uint32_t *list = malloc(((size_t)cfg->block_count + 1) * sizeof(*list));
	struct propagation propagation = {.open_edges = open_edges, .list = list};

	if (open_edges == NULL || list == NULL)
		return -ENOMEM;
	memset(ret, 0, ((size_t)cfg->block_count + 1) * sizeof(*ret));
	for (uint32_t b = 0; b < cfg->block_count; b++)
		open_edges[b] = cfg->blocks[b].out_count;
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		if (cfg->edges[e].kind == CFG_EDGE_STOP && cfg->edges[e].from < cfg->block_count)
			close_edge(&propagation, ret, cfg->edges[e].from);
	}
	while (propagation.count > 0)
		close_in_edges(&propagation, ret, cfg, propagation.list[--propagation.count]);
	return 0;
}
