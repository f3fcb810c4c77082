// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/noreturn_blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

/*
 * struct doom - state of the propagation
 * @ways: number of edges out of each block that are not known to end in a stop
 * @list: @count blocks whose predecessors are to be updated
 */
struct doom {
	uint32_t *ways;
	uint32_t *list;
	uint32_t count;
};

/* Record that one more edge out of a block ends in a stop. */
static void close_way(struct doom *doom, bool *doomed, uint32_t block)
{
	if (--doom->ways[block] > 0)
		return;
	doomed[block] = true;
	doom->list[doom->count++] = block;
}

static void tell_predecessors(struct doom *doom, bool *doomed, const struct cfg *cfg,
			      uint32_t block)
{
	const struct cfg_block *to = &cfg->blocks[block];

	for (uint32_t i = 0; i < to->in_count; i++) {
		uint32_t from = cfg->edges[cfg->in_edges[to->in + i]].from;

		if (from < cfg->block_count)
			close_way(doom, doomed, from);
	}
}

int noreturn_blocks_find(bool *ret, const struct cfg *cfg)
{
	_cleanup_free_ uint32_t *ways = malloc(((size_t)cfg->block_count + 1) * sizeof(*ways));
	_cleanup_free_ uint32_t *list = malloc(((size_t)cfg->block_count + 1) * sizeof(*list));
	struct doom doom = {.ways = ways, .list = list};

	if (ways == NULL || list == NULL)
		return -ENOMEM;
	memset(ret, 0, ((size_t)cfg->block_count + 1) * sizeof(*ret));
	for (uint32_t b = 0; b < cfg->block_count; b++)
		ways[b] = cfg->blocks[b].out_count;
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		if (cfg->edges[e].kind == CFG_EDGE_STOP && cfg->edges[e].from < cfg->block_count)
			close_way(&doom, ret, cfg->edges[e].from);
	}
	while (doom.count > 0)
		tell_predecessors(&doom, ret, cfg, doom.list[--doom.count]);
	return 0;
}
