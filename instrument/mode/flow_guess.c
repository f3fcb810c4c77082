// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/mode/flow_guess.h"

#include <errno.h>
#include <stdlib.h>

/* Trip count of a loop, if the branch of its back edge is also its exit. */
#define LOOP_TRIPS 8.0
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
struct estimator {
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

static void flow_guess_search_from(struct estimator *estimator, uint32_t start)
{
	const struct cfg *cfg = estimator->cfg;
	uint32_t depth = 0;

	if (estimator->state[start] != UNSEEN)
		return;
	estimator->state[start] = OPEN;
	estimator->stack[depth++] = start;
	while (depth > 0) {
		uint32_t block = estimator->stack[depth - 1], edge, to;

		if (estimator->next[block] == cfg->blocks[block].out_count) {
			estimator->state[block] = DONE;
			estimator->order[estimator->ordered++] = block;
			depth--;
			continue;
		}
		edge = cfg->blocks[block].out + estimator->next[block]++;
		to = cfg->edges[edge].to;
		if (to >= cfg->block_count)
			continue;
		estimator->back[edge] = estimator->state[to] == OPEN;
		if (estimator->state[to] == UNSEEN) {
			estimator->state[to] = OPEN;
			estimator->stack[depth++] = to;
		}
	}
}

/* Search from the entries only, so that the back edges are those of the procedure's loops. */
static void search(struct estimator *estimator)
{
	const struct cfg *cfg = estimator->cfg;

	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		if (cfg->edges[e].from >= cfg->block_count && cfg->edges[e].to < cfg->block_count)
			flow_guess_search_from(estimator, cfg->edges[e].to);
	}
}

/* --- cold blocks ------------------------------------------------------------------ */

static bool ends_in_stop(const struct estimator *estimator, uint32_t number)
{
	const struct cfg_edge *edge = &estimator->cfg->edges[number];

	if (edge->to < estimator->cfg->block_count)
		return !estimator->back[number] && estimator->cold[edge->to];
	return edge->kind == CFG_EDGE_STOP;
}

static void find_cold(struct estimator *estimator)
{
	for (uint32_t i = 0; i < estimator->ordered; i++) {
		const struct cfg_block *block = &estimator->cfg->blocks[estimator->order[i]];
		bool cold = block->out_count > 0;

		for (uint32_t e = block->out; cold && e < block->out + block->out_count; e++)
			cold = ends_in_stop(estimator, e);
		estimator->cold[estimator->order[i]] = cold;
	}
}

/* --- frequencies -------------------------------------------------------------------- */

/* Return the edge's weight relative to the other edges out of its block. */
static double flow_guess_share(const struct estimator *estimator, uint32_t number)
{
	if (ends_in_stop(estimator, number))
		return NEVER;
	return estimator->back[number] ? LOOP_TRIPS - 1 : 1;
}

static double entry_frequency(const struct cfg_edge *edge)
{
	return edge->kind == CFG_EDGE_ENTRY ? 1 : NEVER;
}

static void guess_block(struct estimator *estimator, uint32_t number)
{
	const struct cfg *cfg = estimator->cfg;
	const struct cfg_block *block = &cfg->blocks[number];
	double *edges = estimator->guess.edge, times = 0, shares = 0;
	bool loops = false;

	for (uint32_t i = block->in; i < block->in + block->in_count; i++) {
		loops |= estimator->back[cfg->in_edges[i]];
		times += edges[cfg->in_edges[i]];
	}
	if (loops)
		times *= LOOP_TRIPS;
	if (times > MOST)
		times = MOST;
	estimator->guess.block[number] = times;
	for (uint32_t e = block->out; e < block->out + block->out_count; e++)
		shares += flow_guess_share(estimator, e);
	for (uint32_t e = block->out; e < block->out + block->out_count; e++)
		edges[e] = times * flow_guess_share(estimator, e) / shares;
}

/* Visit blocks in reverse postorder. A back edge has no frequency yet when its target is visited;
 * the assumed trip count accounts for it. */
static void guess_all(struct estimator *estimator)
{
	const struct cfg *cfg = estimator->cfg;

	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		if (cfg->edges[e].from >= cfg->block_count)
			estimator->guess.edge[e] = entry_frequency(&cfg->edges[e]);
	}
	for (uint32_t i = estimator->ordered; i > 0; i--)
		guess_block(estimator, estimator->order[i - 1]);
}

int flow_guess_create(struct flow_guess *ret, const struct cfg *cfg)
{
	size_t blocks = cfg->block_count + (size_t)1, edges = cfg->edge_count + (size_t)1;
	struct estimator estimator = {
		.guess = {.block = calloc(blocks, sizeof(double)),
			  .edge = calloc(edges, sizeof(double))},
		.cfg = cfg,
		.order = calloc(blocks, sizeof(*estimator.order)),
		.back = calloc(edges, sizeof(*estimator.back)),
		.cold = calloc(blocks, sizeof(*estimator.cold)),
		.state = calloc(blocks, sizeof(*estimator.state)),
		.next = calloc(blocks, sizeof(*estimator.next)),
		.stack = calloc(blocks, sizeof(*estimator.stack)),
	};
	int r = -ENOMEM;

	if (estimator.guess.block != NULL && estimator.guess.edge != NULL &&
	    estimator.order != NULL && estimator.back != NULL && estimator.cold != NULL &&
	    estimator.state != NULL && estimator.next != NULL && estimator.stack != NULL) {
		search(&estimator);
		find_cold(&estimator);
		guess_all(&estimator);
		r = 0;
	}
	free(estimator.order);
	free(estimator.back);
	free(estimator.cold);
	free(estimator.state);
	free(estimator.next);
	free(estimator.stack);
	if (r < 0)
		flow_guess_deinit(&estimator.guess);
	else
		*ret = estimator.guess;
	return r;
}

void flow_guess_deinit(struct flow_guess *guess)
{
	free(guess->block);
	free(guess->edge);
	*guess = (struct flow_guess){0};
}
