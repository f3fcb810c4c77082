// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/mode/flow_guess.h"

#include <errno.h>
#include <stdlib.h>

/* Trip count of a loop, if the branch of its back edge is also its exit. */
#define TURNS 8.0
#define NEVER 0.01
/* Upper bound on a frequency, which nested loops would otherwise exceed. */
#define MOST 1e12

enum state {
	UNSEEN,
	OPEN,
	DONE
};

/*
 * @order: blocks in postorder: each one after its successors, back edges ignored
 * @back:  for each edge: it is a back edge, to a block that the search has not finished
 * @cold:  for each block: all paths from it end in a noreturn call or trap
 */
struct guessing {
	struct flow_guess guess;
	const struct cfg *cfg;
	uint32_t *order;
	uint32_t ordered;
	bool *back;
	bool *cold;
	uint8_t *state;
	uint32_t *next;
	uint32_t *stack;
};

/* --- depth-first search -------------------------------------------------------- */

static void flow_guess_search_from(struct guessing *guessing, uint32_t start)
{
	const struct cfg *cfg = guessing->cfg;
	uint32_t depth = 0;

	if (guessing->state[start] != UNSEEN)
		return;
	guessing->state[start] = OPEN;
	guessing->stack[depth++] = start;
	while (depth > 0) {
		uint32_t block = guessing->stack[depth - 1], edge, to;

		if (guessing->next[block] == cfg->blocks[block].out_count) {
			guessing->state[block] = DONE;
			guessing->order[guessing->ordered++] = block;
			depth--;
			continue;
		}
		edge = cfg->blocks[block].out + guessing->next[block]++;
		to = cfg->edges[edge].to;
		if (to >= cfg->block_count)
			continue;
		guessing->back[edge] = guessing->state[to] == OPEN;
		if (guessing->state[to] == UNSEEN) {
			guessing->state[to] = OPEN;
			guessing->stack[depth++] = to;
		}
	}
}

/* Search from the entries only, so that the back edges are those of the procedure's loops. */
static void search(struct guessing *guessing)
{
	const struct cfg *cfg = guessing->cfg;

	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		if (cfg->edges[e].from >= cfg->block_count && cfg->edges[e].to < cfg->block_count)
			flow_guess_search_from(guessing, cfg->edges[e].to);
	}
}

/* --- cold blocks ------------------------------------------------------------------ */

static bool stops(const struct guessing *guessing, uint32_t number)
{
	const struct cfg_edge *edge = &guessing->cfg->edges[number];

	if (edge->to < guessing->cfg->block_count)
		return !guessing->back[number] && guessing->cold[edge->to];
	return edge->kind == CFG_EDGE_STOP;
}

static void find_cold(struct guessing *guessing)
{
	for (uint32_t i = 0; i < guessing->ordered; i++) {
		const struct cfg_block *block = &guessing->cfg->blocks[guessing->order[i]];
		bool cold = block->out_count > 0;

		for (uint32_t e = block->out; cold && e < block->out + block->out_count; e++)
			cold = stops(guessing, e);
		guessing->cold[guessing->order[i]] = cold;
	}
}

/* --- frequencies -------------------------------------------------------------------- */

/* Return the edge's weight relative to the other edges out of its block. */
static double flow_guess_share(const struct guessing *guessing, uint32_t number)
{
	if (stops(guessing, number))
		return NEVER;
	return guessing->back[number] ? TURNS - 1 : 1;
}

static double entered(const struct cfg_edge *edge)
{
	return edge->kind == CFG_EDGE_ENTRY ? 1 : NEVER;
}

static void guess_block(struct guessing *guessing, uint32_t number)
{
	const struct cfg *cfg = guessing->cfg;
	const struct cfg_block *block = &cfg->blocks[number];
	double *edges = guessing->guess.edge, times = 0, shares = 0;
	bool loops = false;

	for (uint32_t i = block->in; i < block->in + block->in_count; i++) {
		loops |= guessing->back[cfg->in_edges[i]];
		times += edges[cfg->in_edges[i]];
	}
	if (loops)
		times *= TURNS;
	if (times > MOST)
		times = MOST;
	guessing->guess.block[number] = times;
	for (uint32_t e = block->out; e < block->out + block->out_count; e++)
		shares += flow_guess_share(guessing, e);
	for (uint32_t e = block->out; e < block->out + block->out_count; e++)
		edges[e] = times * flow_guess_share(guessing, e) / shares;
}

/* Visit blocks in reverse postorder. A back edge has no frequency yet when its target is visited;
 * the assumed trip count accounts for it. */
static void guess_all(struct guessing *guessing)
{
	const struct cfg *cfg = guessing->cfg;

	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		if (cfg->edges[e].from >= cfg->block_count)
			guessing->guess.edge[e] = entered(&cfg->edges[e]);
	}
	for (uint32_t i = guessing->ordered; i > 0; i--)
		guess_block(guessing, guessing->order[i - 1]);
}

int flow_guess_create(struct flow_guess *ret, const struct cfg *cfg)
{
	size_t blocks = cfg->block_count + (size_t)1, edges = cfg->edge_count + (size_t)1;
	struct guessing guessing = {
		.guess = {.block = calloc(blocks, sizeof(double)),
			  .edge = calloc(edges, sizeof(double))},
		.cfg = cfg,
		.order = calloc(blocks, sizeof(*guessing.order)),
		.back = calloc(edges, sizeof(*guessing.back)),
		.cold = calloc(blocks, sizeof(*guessing.cold)),
		.state = calloc(blocks, sizeof(*guessing.state)),
		.next = calloc(blocks, sizeof(*guessing.next)),
		.stack = calloc(blocks, sizeof(*guessing.stack)),
	};
	int r = -ENOMEM;

	if (guessing.guess.block != NULL && guessing.guess.edge != NULL && guessing.order != NULL &&
	    guessing.back != NULL && guessing.cold != NULL && guessing.state != NULL &&
	    guessing.next != NULL && guessing.stack != NULL) {
		search(&guessing);
		find_cold(&guessing);
		guess_all(&guessing);
		r = 0;
	}
	free(guessing.order);
	free(guessing.back);
	free(guessing.cold);
	free(guessing.state);
	free(guessing.next);
	free(guessing.stack);
	if (r < 0)
		flow_guess_deinit(&guessing.guess);
	else
		*ret = guessing.guess;
	return r;
}

void flow_guess_deinit(struct flow_guess *guess)
{
	free(guess->block);
	free(guess->edge);
	*guess = (struct flow_guess){0};
}
