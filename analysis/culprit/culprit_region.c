// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/culprit/culprit_region.h"

#include "analysis/culprit/culprit_rule.h"
#include "analysis/graph/strong_components.h"
#include "lib/cleanup.h"

#include <errno.h>
#include <stdlib.h>

static bool block_calls(const struct cfg *cfg, uint32_t block)
{
	const struct cfg_block *b = &cfg->blocks[block];

	for (uint32_t i = b->first; i < b->first + b->count; i++)
		if (culprit_insn_calls(&cfg->insns[i]))
			return true;
	return false;
}

/*
 * @calls: true for blocks that contain calls; @first: blocks + 1 elements; @targets: one for each
 *         edge
 */
static void list_targets(const struct cfg *cfg, const bool *calls, uint32_t *first,
			 uint32_t *targets)
{
	uint32_t count = 0;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];

		first[b] = count;
		for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
			uint32_t to = cfg->edges[e].to;

			if (to < cfg->block_count && !calls[b] && !calls[to])
				targets[count++] = to;
		}
	}
	first[cfg->block_count] = count;
}

struct extent {
	uint64_t start;
	uint64_t end;
};

static void extent_add(struct extent *extent, const struct cfg *cfg, uint32_t block)
{
	const struct cfg_block *b = &cfg->blocks[block];
	const struct insn *first = &cfg->insns[b->first];
	const struct insn *last = first + b->count - 1;

	if (extent->end == 0 || first->address < extent->start)
		extent->start = first->address;
	if (last->address + last->bytes > extent->end)
		extent->end = last->address + last->bytes;
}

/* Components without an inner edge are not loops: their blocks are in no region. */
static void drop_straight_code(struct culprit_regions *regions, const struct cfg *cfg,
			       const bool *calls, bool *loops)
{
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		uint32_t from = cfg->edges[e].from, to = cfg->edges[e].to;

		if (from < cfg->block_count && to < cfg->block_count && !calls[from] &&
		    regions->of_block[from] == regions->of_block[to])
			loops[regions->of_block[from]] = true;
	}
	for (uint32_t b = 0; b < cfg->block_count; b++)
		if (!loops[regions->of_block[b]])
			regions->of_block[b] = CULPRIT_REGION_NONE;
}

static int measure(struct culprit_regions *regions, const struct culprit_input *input)
{
	const struct cfg *cfg = input->cfg;
	_cleanup_free_ struct extent *extents = calloc(regions->count + 1, sizeof(*extents));

	if (extents == NULL)
		return -ENOMEM;
	for (uint32_t b = 0; b < cfg->block_count; b++)
		if (regions->of_block[b] != CULPRIT_REGION_NONE)
			extent_add(&extents[regions->of_block[b]], cfg, b);
	for (uint32_t r = 0; r < regions->count; r++)
		regions->regions[r].bytes = extents[r].end - extents[r].start;
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		uint32_t from = cfg->edges[e].from, to = cfg->edges[e].to;
		uint32_t region =
			to < cfg->block_count ? regions->of_block[to] : CULPRIT_REGION_NONE;

		if (region != CULPRIT_REGION_NONE &&
		    (from >= cfg->block_count || regions->of_block[from] != region))
			regions->regions[region].entries +=
				culprit_edge_share(input, e) * input->frequency->blocks[to].value;
	}
	return 0;
}

static int culprit_region_find(struct culprit_regions *ret, const struct culprit_input *input)
{
	const struct cfg *cfg = input->cfg;
	uint32_t blocks = cfg->block_count;
	_cleanup_free_ bool *calls = calloc((size_t)blocks * 2 + 1, sizeof(*calls));
	_cleanup_free_ uint32_t *first = calloc((size_t)blocks + 1, sizeof(*first));
	_cleanup_free_ uint32_t *targets = calloc((size_t)cfg->edge_count + 1, sizeof(*targets));
	struct strong_graph graph = {.first = first, .targets = targets, .nodes = blocks};
	int r;

	ret->of_block = calloc((size_t)blocks + 1, sizeof(*ret->of_block));
	if (calls == NULL || first == NULL || targets == NULL || ret->of_block == NULL)
		return -ENOMEM;
	for (uint32_t b = 0; b < blocks; b++)
		calls[b] = block_calls(cfg, b);
	list_targets(cfg, calls, first, targets);
	r = strong_components_find(ret->of_block, &ret->count, &graph);
	if (r != 0)
		return r;
	ret->regions = calloc((size_t)ret->count + 1, sizeof(*ret->regions));
	if (ret->regions == NULL)
		return -ENOMEM;
	drop_straight_code(ret, cfg, calls, calls + blocks);
	return measure(ret, input);
}

int culprit_regions_find(struct culprit_regions *ret, const struct culprit_input *input)
{
	struct culprit_regions regions = {0};
	int r = culprit_region_find(&regions, input);

	if (r != 0)
		culprit_regions_deinit(&regions);
	else
		*ret = regions;
	return r;
}

void culprit_regions_deinit(struct culprit_regions *regions)
{
	free(regions->of_block);
	free(regions->regions);
	*regions = (struct culprit_regions){0};
}

double culprit_region_share(const struct culprit_regions *regions,
			    const struct frequency *frequency, uint32_t block, uint64_t bytes)
{
	uint32_t index = regions->of_block[block];
	const struct culprit_region *region;
	double executions = frequency->blocks[block].value;

	if (index == CULPRIT_REGION_NONE)
		return 1;
	region = &regions->regions[index];
	if (region->bytes > bytes || region->entries >= executions)
		return 1;
	return region->entries / executions;
}
