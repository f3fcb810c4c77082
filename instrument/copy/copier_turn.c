// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two copies of a procedure, one that only looks whether it is time to record, and one that
 * records, until it has done so often enough (Arnold and Ryder, "A framework for reducing
 * the cost of instrumented code", 2001). Each has a counter of the thread's, which counts
 * down at entries and where ways lead back to; below zero it is the other's turn. A burst
 * goes on over calls and returns (Hirzel and Chilimbi, "Bursty tracing", 2001): the
 * checking copy that is called finds its counter below zero still.
 *
 * Both counters are zero when a thread begins: its first burst is empty.
 */
#include "instrument/copy/copier.h"

#include <stdlib.h>
#include <string.h>

#define MACHINE_SIGN 8

uint32_t copier_turn_count(const struct copier *copier)
{
	return 2 * copier->cfg->block_count + 1;
}

uint32_t copier_turn_of_block(const struct copier *copier, uint32_t block)
{
	(void)copier;
	return block;
}

uint32_t copier_turn_of_entry(const struct copier *copier)
{
	return 2 * copier->cfg->block_count;
}

uint32_t copier_turn_of_site(const struct copier *copier, uint32_t block)
{
	return copier->cfg->block_count + block;
}

/* Blocks on the way from where the search began, and how many edges of each are done. */
struct search {
	const struct cfg *cfg;
	uint8_t *state;
	uint32_t *way;
	uint32_t *done;
	uint32_t depth;
};

enum {
	NEW,
	ON_WAY,
	FINISHED,
};

/* On along the next edge, or a step back. */
static void search_step(struct search *search, bool *headers)
{
	uint32_t block = search->way[search->depth - 1];
	const struct cfg_block *from = &search->cfg->blocks[block];
	const struct cfg_edge *edge;

	if (search->done[search->depth - 1] == from->out_count) {
		search->state[block] = FINISHED;
		search->depth--;
		return;
	}
	edge = &search->cfg->edges[from->out + search->done[search->depth - 1]++];
	if (edge->to >= search->cfg->block_count)
		return;
	/* Indirect jumps arrive at sites, which are checked anyway. */
	if (search->state[edge->to] == ON_WAY && edge->kind != CFG_EDGE_SWITCH)
		headers[edge->to] = true;
	if (search->state[edge->to] != NEW)
		return;
	search->state[edge->to] = ON_WAY;
	search->way[search->depth] = edge->to;
	search->done[search->depth++] = 0;
}

/* From all blocks with these flags that are new. */
static void search_from(struct search *search, bool *headers, uint32_t flags)
{
	for (uint32_t b = 0; b < search->cfg->block_count; b++) {
		if (search->state[b] != NEW || (search->cfg->blocks[b].flags & flags) != flags)
			continue;
		search->state[b] = ON_WAY;
		search->way[0] = b;
		search->done[0] = 0;
		search->depth = 1;
		while (search->depth > 0)
			search_step(search, headers);
	}
}

/* Every circle has an edge back to a block that is on the way of a search in depth. */
int copier_turn_find_headers(struct copier *copier)
{
	uint32_t count = copier->cfg->block_count;
	struct search search = {
		.cfg = copier->cfg,
		.state = calloc(count + (size_t)1, sizeof(*search.state)),
		.way = malloc((count + (size_t)1) * sizeof(*search.way)),
		.done = malloc((count + (size_t)1) * sizeof(*search.done)),
	};
	int r = -ENOMEM;

	copier->headers = calloc(count + (size_t)1, sizeof(*copier->headers));
	if (search.state != NULL && search.way != NULL && search.done != NULL &&
	    copier->headers != NULL) {
		search_from(&search, copier->headers, CFG_BLOCK_ENTRY);
		search_from(&search, copier->headers, 0); /* those that nothing leads to */
		r = 0;
	}
	free(search.state);
	free(search.way);
	free(search.done);
	return r;
}

/* subl $1, %gs:@at */
static void emit_count_down(struct machine_code *code, uint32_t at)
{
	uint8_t bytes[] = {0x65, 0x83, 0x2c, 0x25, 0, 0, 0, 0, 1};

	memcpy(bytes + 4, &at, sizeof(at));
	machine_code_bytes(code, bytes, sizeof(bytes));
}

/* movl $@value, %gs:@at */
static void emit_set(struct machine_code *code, uint32_t at, uint32_t value)
{
	uint8_t bytes[] = {0x65, 0xc7, 0x04, 0x25, 0, 0, 0, 0, 0, 0, 0, 0};

	memcpy(bytes + 4, &at, sizeof(at));
	memcpy(bytes + 8, &value, sizeof(value));
	machine_code_bytes(code, bytes, sizeof(bytes));
}

/* incl %gs:@at */
static void emit_increment(struct machine_code *code, uint32_t at)
{
	uint8_t bytes[] = {0x65, 0xff, 0x04, 0x25, 0, 0, 0, 0};

	memcpy(bytes + 4, &at, sizeof(at));
	machine_code_bytes(code, bytes, sizeof(bytes));
}

/* Who comes from the checking copy is counted in the other one; who comes back is not. */
void copier_turn_emit(struct copier *copier, uint32_t crossing, uint32_t live, bool red_zone)
{
	const struct copy_turns *turns = &copier->source->turns;
	bool checks = copier->source->variant == COPY_CHECKING;
	struct point point = {
		.live = live,
		.free = liveness_free_registers(copier->source->liveness, live),
		.red_zone = red_zone,
	};
	struct aside cross = {.kind = ASIDE_CROSS, .crossing = crossing};
	uint32_t label = machine_code_label(copier->code);
	struct aside *aside;

	copier->copy->crossings[crossing] = label;
	if (!checks)
		machine_code_place(copier->code, label);
	point_borrow(copier->code, &point, 0, 0, true, &cross.loan);
	emit_count_down(copier->code, checks ? turns->checks_at : turns->records_at);
	aside = copier_aside_add(copier, cross);
	if (aside != NULL)
		machine_code_branch(copier->code, MACHINE_SIGN, aside->label);
	point_give_back(copier->code, &cross.loan);
	if (checks)
		machine_code_place(copier->code, label);
}

void copier_turn_cross(struct copier *copier, const struct aside *aside)
{
	const struct copy_turns *turns = &copier->source->turns;

	if (copier->source->variant == COPY_INSTRUMENTED) {
		emit_increment(copier->code, turns->bursts_at);
		emit_set(copier->code, turns->checks_at, turns->checks);
		emit_set(copier->code, turns->records_at, turns->records);
	}
	point_give_back(copier->code, &aside->loan);
	machine_code_enter(copier->code, MACHINE_JUMP, COPY_CROSSING | aside->crossing);
}
