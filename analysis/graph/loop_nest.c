// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/loop_nest.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/graph/strong_components.h"
#include "lib/array.h"
#include "lib/cleanup.h"

/*
 * struct descent - state of the search, which proceeds inward, all loops of one depth at a time
 * @targets: of edges; UINT32_MAX: not within a loop of this depth, or back to its entry
 * @size:    number of blocks of each component
 * @loop_of: loop of each component
 */
struct descent {
	const struct cfg *cfg;
	struct loop_nest *nest;
	size_t capacity;
	uint32_t *first;
	uint32_t *targets;
	uint32_t *component;
	uint32_t *size;
	uint32_t *loop_of;
};

static void descent_begin(struct descent *descent)
{
	const struct cfg *cfg = descent->cfg;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];

		descent->nest->of_block[b] = LOOP_NEST_NONE;
		descent->first[b + 1] =
			block->out_count > 0 ? block->out + block->out_count : descent->first[b];
	}
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		descent->targets[e] =
			cfg->edges[e].to < cfg->block_count ? cfg->edges[e].to : UINT32_MAX;
}

/* Add a loop for each component with a cycle. Return: the number of loops, or -ENOMEM. */
static int add_loops(struct descent *descent, uint32_t components)
{
	const struct cfg *cfg = descent->cfg;
	struct loop_nest *nest = descent->nest;
	uint32_t before = nest->count;

	for (uint32_t c = 0; c < components; c++) {
		descent->size[c] = 0;
		descent->loop_of[c] = LOOP_NEST_NONE;
	}
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		descent->size[descent->component[b]]++;
		for (uint32_t e = descent->first[b]; e < descent->first[b + 1]; e++)
			descent->size[descent->component[b]] += descent->targets[e] == b;
	}
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		uint32_t *loop = &descent->loop_of[descent->component[b]];

		if (descent->size[descent->component[b]] <= 1)
			continue;
		if (*loop == LOOP_NEST_NONE) {
			if (array_reserve(&nest->loops, &descent->capacity, nest->count + 1,
					  sizeof(*nest->loops)) < 0)
				return -ENOMEM;
			*loop = nest->count++;
			nest->loops[*loop].parent = nest->of_block[b];
			nest->loops[*loop].header = LOOP_NEST_NONE;
		}
		nest->of_block[b] = *loop;
	}
	return (int)(nest->count - before);
}

/* Drop edges that are not within loops of this depth. */
static void drop_edges_between_components(struct descent *descent)
{
	const struct cfg *cfg = descent->cfg;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		for (uint32_t e = descent->first[b]; e < descent->first[b + 1]; e++) {
			uint32_t to = descent->targets[e];

			if (to != UINT32_MAX && descent->component[to] != descent->component[b])
				descent->targets[e] = UINT32_MAX;
		}
	}
}

static bool is_entered(const struct descent *descent, uint32_t b, uint32_t loop)
{
	const struct cfg *cfg = descent->cfg;
	const struct cfg_block *block = &cfg->blocks[b];

	for (uint32_t i = 0; i < block->in_count; i++) {
		uint32_t from = cfg->edges[cfg->in_edges[block->in + i]].from;

		if (!loop_nest_contains(descent->nest, cfg, loop, from))
			return true;
	}
	return false;
}

/* Find the entries of the loops from @first on, and drop the edges back to them. */
static void drop_back_edges(struct descent *descent, uint32_t first)
{
	const struct cfg *cfg = descent->cfg;
	struct loop_nest *nest = descent->nest;
	uint32_t *entries = descent->size;

	for (uint32_t l = first; l < nest->count; l++)
		entries[l - first] = 0;
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		uint32_t loop = nest->of_block[b];

		if (loop == LOOP_NEST_NONE || loop < first || !is_entered(descent, b, loop))
			continue;
		nest->loops[loop].header = entries[loop - first]++ == 0 ? b : LOOP_NEST_NONE;
		for (uint32_t i = 0; i < block->in_count; i++)
			descent->targets[cfg->in_edges[block->in + i]] = UINT32_MAX;
	}
}

static int descend(struct descent *descent)
{
	const struct cfg *cfg = descent->cfg;
	const struct strong_graph graph = {descent->first, descent->targets, cfg->block_count};
	int found = 1;

	descent_begin(descent);
	for (int depth = 0; depth < LOOP_NEST_DEPTH_MAX && found > 0; depth++) {
		uint32_t first = descent->nest->count, components;
		int r = strong_components_find(descent->component, &components, &graph);

		if (r < 0)
			return r;
		found = add_loops(descent, components);
		if (found < 0)
			return found;
		drop_edges_between_components(descent);
		drop_back_edges(descent, first);
	}
	return 0;
}

int loop_nest_create(struct loop_nest *ret, const struct cfg *cfg)
{
	size_t blocks = (size_t)cfg->block_count + 1;
	_cleanup_free_ uint32_t *first = calloc(blocks, sizeof(*first));
	_cleanup_free_ uint32_t *targets = calloc((size_t)cfg->edge_count + 1, sizeof(*targets));
	_cleanup_free_ uint32_t *component = calloc(blocks, sizeof(*component));
	_cleanup_free_ uint32_t *size = calloc(blocks, sizeof(*size));
	_cleanup_free_ uint32_t *loop_of = calloc(blocks, sizeof(*loop_of));
	struct loop_nest nest = {.of_block = calloc(blocks, sizeof(*nest.of_block))};
	struct descent descent = {.cfg = cfg,
				  .nest = &nest,
				  .first = first,
				  .targets = targets,
				  .component = component,
				  .size = size,
				  .loop_of = loop_of};
	int r = -ENOMEM;

	if (first != NULL && targets != NULL && component != NULL && size != NULL &&
	    loop_of != NULL && nest.of_block != NULL)
		r = descend(&descent);
	if (r < 0)
		loop_nest_deinit(&nest);
	else
		*ret = nest;
	return r;
}

/* --- blocks of each iteration ---------------------------------------------- */

/* Blocks that are tried. */
#define TRIES_MAX 64

/*
 * struct cycle_search - @loop without one block
 * @targets: of edges in the loop; UINT32_MAX: not within it, or an end is the block left out
 */
struct cycle_search {
	const struct loop_nest *nest;
	const struct cfg *cfg;
	uint32_t loop;
	uint32_t *first;
	uint32_t *targets;
	uint32_t *component;
	uint32_t *of_component;
};

/* Return: the loop directly within search->loop that contains a block, or search->loop. */
static uint32_t inner_loop_of(const struct cycle_search *search, uint32_t block)
{
	uint32_t at = search->nest->of_block[block];

	while (at != search->loop && search->nest->loops[at].parent != search->loop)
		at = search->nest->loops[at].parent;
	return at;
}

static void cycle_search_begin(struct cycle_search *search, uint32_t without)
{
	const struct cfg *cfg = search->cfg;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		bool inside =
			b != without && loop_nest_contains(search->nest, cfg, search->loop, b);

		search->first[b + 1] =
			block->out_count > 0 ? block->out + block->out_count : search->first[b];
		for (uint32_t e = search->first[b]; e < search->first[b + 1]; e++) {
			uint32_t to = cfg->edges[e].to;
			bool is_inside = inside && to != without &&
					 loop_nest_contains(search->nest, cfg, search->loop, to);

			search->targets[e] = is_inside ? to : UINT32_MAX;
		}
	}
}

static bool leads_to_itself(const struct cycle_search *search, uint32_t b)
{
	for (uint32_t e = search->first[b]; e < search->first[b + 1]; e++) {
		if (search->targets[e] == b)
			return true;
	}
	return false;
}

/* Return: 1 if all cycles that remain are within inner loops; 0; -ENOMEM. */
static int has_inner_cycles_only(struct cycle_search *search, uint32_t without)
{
	const struct cfg *cfg = search->cfg;
	const struct strong_graph graph = {search->first, search->targets, cfg->block_count};
	uint32_t components;

	cycle_search_begin(search, without);
	if (strong_components_find(search->component, &components, &graph) < 0)
		return -ENOMEM;
	for (uint32_t c = 0; c < components; c++)
		search->of_component[c] = UINT32_MAX;
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		uint32_t *block = &search->of_component[search->component[b]], inner;

		if (b == without || !loop_nest_contains(search->nest, cfg, search->loop, b))
			continue;
		inner = inner_loop_of(search, b);
		if (inner == search->loop && (*block != UINT32_MAX || leads_to_itself(search, b)))
			return 0;
		if (*block != UINT32_MAX && inner != inner_loop_of(search, *block))
			return 0;
		*block = b;
	}
	return 1;
}

static int iteration_block_search(uint32_t *ret, struct cycle_search *search)
{
	const struct cfg *cfg = search->cfg;
	int tries = 0, r = 0;

	for (uint32_t b = 0; b < cfg->block_count && tries < TRIES_MAX && r == 0; b++) {
		if (search->nest->of_block[b] != search->loop)
			continue;
		tries++;
		r = has_inner_cycles_only(search, b);
		if (r > 0)
			*ret = b;
	}
	return r < 0 ? r : 0;
}

int loop_nest_iteration_block(uint32_t *ret, const struct loop_nest *nest, const struct cfg *cfg,
			      uint32_t loop)
{
	size_t blocks = (size_t)cfg->block_count + 1;
	_cleanup_free_ uint32_t *first = NULL, *targets = NULL, *component = NULL,
				*of_component = NULL;

	*ret = nest->loops[loop].header;
	if (*ret != LOOP_NEST_NONE)
		return 0;
	first = calloc(blocks, sizeof(*first));
	targets = calloc((size_t)cfg->edge_count + 1, sizeof(*targets));
	component = calloc(blocks, sizeof(*component));
	of_component = calloc(blocks, sizeof(*of_component));
	if (first == NULL || targets == NULL || component == NULL || of_component == NULL)
		return -ENOMEM;
	return iteration_block_search(ret, &(struct cycle_search){
						   .nest = nest,
						   .cfg = cfg,
						   .loop = loop,
						   .first = first,
						   .targets = targets,
						   .component = component,
						   .of_component = of_component,
					   });
}

void loop_nest_deinit(struct loop_nest *nest)
{
	free(nest->loops);
	free(nest->of_block);
	*nest = (struct loop_nest){0};
}
