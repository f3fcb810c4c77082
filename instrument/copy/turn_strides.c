// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/turn_strides.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"

#define FAR (UINT32_MAX / 4)

/*
 * struct place - a block, as seen from where a loop begins
 * @search: that is known of it since; none other counts
 * @length: instructions of the shortest way to it, up to its end
 * @rest:   of the shortest way on from there, up to where a check leads back; FAR: none does
 * @first:  it is on the shortest way round
 */
struct place {
	uint32_t search;
	uint32_t length;
	uint32_t rest;
	bool first;
};

/* @list: blocks that a search has reached */
struct finder {
	const struct cfg *cfg;
	const struct turn_loops *loops;
	struct turn_strides *strides;
	struct place *places;
	uint32_t *list;
	uint32_t count;
	uint32_t header;
};

static bool is_plain(const struct cfg *cfg, const struct cfg_block *block)
{
	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		const struct insn *insn = &cfg->insns[i];

		if (insn->class == INSN_SYSTEM ||
		    (insn->flow != INSN_FLOW_NEXT && insn->flow != INSN_FLOW_BRANCH &&
		     insn->flow != INSN_FLOW_JUMP))
			return false;
	}
	return true;
}

/* On within the procedure, and no table says where. */
static bool is_way(const struct cfg_edge *edge)
{
	return edge->kind == CFG_EDGE_NEXT || edge->kind == CFG_EDGE_TAKEN ||
	       edge->kind == CFG_EDGE_JUMP;
}

static bool is_seen(const struct finder *finder, uint32_t block)
{
	return block < finder->cfg->block_count &&
	       finder->places[block].search == finder->header + 1;
}

/* --- ways on -------------------------------------------------------------- */

/* Return: whether it is new, or reached with fewer instructions. */
static bool reach(struct finder *finder, uint32_t block, uint32_t before)
{
	const struct cfg_block *to = &finder->cfg->blocks[block];
	struct place *place = &finder->places[block];
	bool seen = is_seen(finder, block);

	if (to->count > TURN_STRIDE_BODY || before + to->count > TURN_STRIDE_BODY ||
	    (seen && place->length <= before + to->count) || !is_plain(finder->cfg, to))
		return false;
	if (!seen)
		finder->list[finder->count++] = block;
	*place = (struct place){
		.search = finder->header + 1, .length = before + to->count, .rest = FAR};
	return true;
}

/* By ways without a check. */
static bool reach_from(struct finder *finder, uint32_t from)
{
	const struct cfg *cfg = finder->cfg;
	const struct cfg_block *block = &cfg->blocks[from];
	bool reached = false;

	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];

		if (is_way(edge) && !finder->loops->checked[e] && edge->to < cfg->block_count)
			reached |= reach(finder, edge->to, finder->places[from].length);
	}
	return reached;
}

static void find_lengths(struct finder *finder)
{
	bool again = reach(finder, finder->header, 0);

	while (again) {
		again = false;
		for (uint32_t i = 0; i < finder->count; i++)
			again |= reach_from(finder, finder->list[i]);
	}
}

/* --- ways back ------------------------------------------------------------ */

bool turn_strides_leads_back(const struct cfg *cfg, const struct turn_loops *loops, uint32_t header,
			     uint32_t edge)
{
	return loops->checked[edge] && is_way(&cfg->edges[edge]) && cfg->edges[edge].to == header;
}

static bool leads_back(const struct finder *finder, uint32_t edge)
{
	return turn_strides_leads_back(finder->cfg, finder->loops, finder->header, edge);
}

/* What is left behind an edge. */
static uint32_t rest_behind(const struct finder *finder, uint32_t edge)
{
	const struct cfg *cfg = finder->cfg;
	uint32_t to = cfg->edges[edge].to;

	if (leads_back(finder, edge))
		return 0;
	if (!is_way(&cfg->edges[edge]) || finder->loops->checked[edge] || !is_seen(finder, to))
		return FAR;
	return finder->places[to].rest + cfg->blocks[to].count;
}

/* The edge that the shortest way goes on by. */
static uint32_t best_edge(const struct finder *finder, uint32_t from)
{
	const struct cfg_block *block = &finder->cfg->blocks[from];
	uint32_t best = block->out;

	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		if (rest_behind(finder, e) < rest_behind(finder, best))
			best = e;
	}
	return best;
}

static bool shorten_rest(struct finder *finder, uint32_t from)
{
	struct place *place = &finder->places[from];
	uint32_t rest = FAR;

	if (finder->cfg->blocks[from].out_count > 0)
		rest = rest_behind(finder, best_edge(finder, from));
	if (rest >= place->rest)
		return false;
	place->rest = rest;
	return true;
}

static void find_rests(struct finder *finder)
{
	uint32_t block = finder->header;
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t i = finder->count; i > 0; i--)
			again |= shorten_rest(finder, finder->list[i - 1]);
	}
	if (!is_seen(finder, block) || finder->places[block].rest >= FAR)
		return;
	for (; finder->places[block].rest > 0;
	     block = finder->cfg->edges[best_edge(finder, block)].to)
		finder->places[block].first = true;
	finder->places[block].first = true;
}

/* --- bodies --------------------------------------------------------------- */

/* @way: instructions of the shortest way round by it */
struct part {
	uint32_t block;
	uint32_t way;
};

static int by_way(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (a->way != b->way)
		return a->way < b->way ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

static int by_place(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	return (a->way > b->way) - (a->way < b->way);
}

/* Those of the shortest way round first, then of the next. Return: how many, sorted so. */
static uint32_t find_parts(const struct finder *finder, struct part *parts)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < finder->count; i++) {
		uint32_t block = finder->list[i];
		const struct place *place = &finder->places[block];

		if (place->rest < FAR)
			parts[count++] = (struct part){
				block, place->first ? 0 : place->length + place->rest};
	}
	qsort(parts, count, sizeof(*parts), by_way);
	return count;
}

/* As they lie, but from where the loop begins. Return: instructions. */
static uint32_t choose_parts(const struct finder *finder, struct part *parts, uint32_t *count)
{
	uint32_t insns = 0, chosen = 0;

	while (chosen < *count &&
	       insns + finder->cfg->blocks[parts[chosen].block].count <= TURN_STRIDE_BODY) {
		struct part *part = &parts[chosen++];

		insns += finder->cfg->blocks[part->block].count;
		part->way = part->block - finder->header;
	}
	qsort(parts, chosen, sizeof(*parts), by_place);
	*count = chosen;
	return insns;
}

static int add(struct turn_strides *strides, uint32_t edge, const struct part *parts,
	       uint32_t count, uint32_t turns)
{
	if (array_reserve(&strides->all, &strides->capacity, strides->count + 1,
			  sizeof(*strides->all)) < 0 ||
	    array_reserve(&strides->blocks, &strides->block_capacity, strides->block_count + count,
			  sizeof(*strides->blocks)) < 0)
		return -ENOMEM;
	strides->all[strides->count++] = (struct turn_stride){
		.edge = edge,
		.first = (uint32_t)strides->block_count,
		.count = count,
		.turns = turns,
	};
	for (uint32_t i = 0; i < count; i++)
		strides->blocks[strides->block_count++] = parts[i].block;
	return 0;
}

static int add_body(struct finder *finder, uint32_t edge)
{
	struct part *parts = malloc((finder->count + (size_t)1) * sizeof(*parts));
	uint32_t count, insns, turns = 0;
	int r = 0;

	if (parts == NULL)
		return -ENOMEM;
	count = find_parts(finder, parts);
	insns = choose_parts(finder, parts, &count);
	if (insns > 0)
		turns = TURN_STRIDE_INSNS / insns;
	if (turns > 0)
		r = add(finder->strides, edge, parts, count,
			turns < TURN_STRIDE_TURNS ? turns : TURN_STRIDE_TURNS);
	free(parts);
	return r;
}

static int look_at(struct finder *finder, uint32_t header)
{
	const struct cfg *cfg = finder->cfg;
	const struct cfg_block *block = &cfg->blocks[header];
	uint32_t i = block->in;

	finder->header = header;
	finder->count = 0;
	while (i < block->in + block->in_count && !leads_back(finder, cfg->in_edges[i]))
		i++;
	if (i == block->in + block->in_count)
		return 0;
	find_lengths(finder);
	find_rests(finder);
	return add_body(finder, cfg->in_edges[i]);
}

/* --- all of it ------------------------------------------------------------ */

int turn_strides_find(struct turn_strides *ret, const struct cfg *cfg,
		      const struct turn_loops *loops)
{
	size_t count = cfg->block_count + (size_t)1;
	struct finder finder = {
		.cfg = cfg,
		.loops = loops,
		.strides = ret,
		.places = calloc(count, sizeof(*finder.places)),
		.list = calloc(count, sizeof(*finder.list)),
	};
	int r = -ENOMEM;

	*ret = (struct turn_strides){0};
	if (finder.places != NULL && finder.list != NULL) {
		r = 0;
		for (uint32_t b = 0; r == 0 && b < cfg->block_count; b++)
			r = look_at(&finder, b);
	}
	free(finder.places);
	free(finder.list);
	if (r < 0)
		turn_strides_deinit(ret);
	return r;
}

int turn_strides_add(struct turn_strides *strides, uint32_t edge, uint32_t block, uint32_t turns)
{
	const struct part part = {.block = block};

	return add(strides, edge, &part, 1, turns);
}

void turn_strides_deinit(struct turn_strides *strides)
{
	free(strides->all);
	free(strides->blocks);
	*strides = (struct turn_strides){0};
}
