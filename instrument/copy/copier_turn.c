// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two copies of a procedure, one that only looks whether it is time to record, and one that
 * records, until it has done so often enough (Arnold and Ryder, "A framework for reducing
 * the cost of instrumented code", 2001). Each has a counter of the thread's, which counts
 * down at checks: at entries and on ways back (turn_placement.h). Below zero it is the
 * other's turn. A burst goes on over calls and returns (Hirzel and Chilimbi, "Bursty
 * tracing", 2001): the checking copy finds its counter below zero still when it is called,
 * and where nothing is counted the recording copy calls recording copies.
 *
 * Others know old places only, which lead to checking copies: there they look whose turn it
 * is, even where nothing is counted.
 */
#include "instrument/copy/copier.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/copy/turn_entries.h"

#define MACHINE_EQUAL 4
#define MACHINE_SIGN 8
#define MACHINE_NO_SIGN 9

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

static bool is_event(void *context, uint32_t insn)
{
	return copier_point_is_event(context, insn);
}

int copier_turn_prepare(struct copier *copier)
{
	const struct copy_turns *turns = &copier->source->turns;
	int r;

	if (copier->source->variant == COPY_ONLY)
		return 0;
	r = turn_loops_find(&copier->loops, copier->cfg, turns->placement.boring, is_event, copier);
	if (r == 0)
		copier->copy->crossings =
			calloc(copier_turn_count(copier), sizeof(*copier->copy->crossings));
	return copier->copy->crossings != NULL ? 0 : -ENOMEM;
}

bool copier_turn_on_edge(const struct copier *copier, uint32_t cfg_edge)
{
	return copier->source->variant != COPY_ONLY && copier->loops.checked[cfg_edge];
}

bool copier_turn_leads_back(const struct copier *copier, uint32_t block)
{
	const struct cfg_block *to = &copier->cfg->blocks[block];

	for (uint32_t i = to->in; i < to->in + to->in_count; i++) {
		if (copier_turn_on_edge(copier, copier->cfg->in_edges[i]))
			return true;
	}
	return false;
}

bool copier_turn_on_site(const struct copier *copier, uint32_t block)
{
	const struct cfg_block *to = &copier->cfg->blocks[block];

	for (uint32_t i = to->in; i < to->in + to->in_count; i++) {
		uint32_t edge = copier->cfg->in_edges[i];

		if (copier->cfg->edges[edge].kind == CFG_EDGE_SWITCH &&
		    copier_turn_on_edge(copier, edge))
			return true;
	}
	return false;
}

bool copier_turn_at_entry(const struct copier *copier, uint32_t number)
{
	return copier->source->variant != COPY_ONLY &&
	       copier->source->checked[number] == TURN_ENTRY_EACH;
}

bool copier_turn_from_outside(const struct copier *copier)
{
	return copier->source->checked[copier->source->number] == TURN_ENTRY_OUTSIDE;
}

static uint32_t checks_at(const struct copy_turns *turns)
{
	return turns->at + (uint32_t)offsetof(struct profile_layout_turns, checks);
}

static uint32_t records_at(const struct copy_turns *turns)
{
	return turns->at + (uint32_t)offsetof(struct profile_layout_turns, records);
}

/* decl %gs:@at; the carry stays as it is */
static void emit_count_down(struct machine_code *code, uint32_t at)
{
	uint8_t bytes[] = {0x65, 0xff, 0x0c, 0x25, 0, 0, 0, 0};

	memcpy(bytes + 4, &at, sizeof(at));
	machine_code_bytes(code, bytes, sizeof(bytes));
}

/* cmpl $number, %gs:@at */
static void emit_compare(struct machine_code *code, uint32_t at, int8_t number)
{
	uint8_t bytes[] = {0x65, 0x83, 0x3c, 0x25, 0, 0, 0, 0, (uint8_t)number};

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

/* The recording copy only looks where somebody counts; without end it does not at all. */
static bool is_needed(const struct copier *copier, const struct turn *turn)
{
	return copier->source->variant == COPY_CHECKING ||
	       (turn->counts && copier->source->turns.checks > 0);
}

bool copier_turn_crosses(const struct copier *copier)
{
	const struct copy_turns *turns = &copier->source->turns;

	return copier->source->variant == COPY_INSTRUMENTED && turns->checks > 0 &&
	       turns->records == 1;
}

/* Whose turn is it? @back: where it is this one's. Return: code aside, which crosses; NULL:
 * it is always this one's. */
static struct aside *emit_check(struct copier *copier, const struct turn *turn, uint32_t back)
{
	const struct copy_turns *turns = &copier->source->turns;
	bool checks = copier->source->variant == COPY_CHECKING;
	struct aside cross = {.kind = ASIDE_CROSS,
			      .crossing = turn->crossing,
			      .counts = turn->counts,
			      .back = back};
	struct point point = {
		.live = turn->counts ? turn->live & ~LIVENESS_CARRY : turn->live,
		.free = liveness_free_registers(copier->source->liveness, turn->live),
		.red_zone = turn->red_zone,
	};

	if (!is_needed(copier, turn))
		return NULL;
	point_borrow(copier->code, &point, 0, 0, true, &cross.loan);
	if (turn->counts)
		emit_count_down(copier->code, checks ? checks_at(turns) : records_at(turns));
	else
		emit_compare(copier->code, checks_at(turns), 0);
	return copier_aside_add(copier, cross);
}

void copier_turn_emit(struct copier *copier, const struct turn *turn)
{
	uint32_t behind = machine_code_label(copier->code);
	struct aside *aside = emit_check(copier, turn, behind);

	if (aside != NULL) {
		machine_code_branch(copier->code, MACHINE_SIGN, aside->label);
		point_give_back(copier->code, &aside->loan);
	}
	machine_code_place(copier->code, behind);
}

void copier_turn_emit_to(struct copier *copier, const struct turn *turn, uint32_t label)
{
	struct aside *aside = emit_check(copier, turn, label);

	if (aside != NULL && !aside->loan.flags) {
		machine_code_branch(copier->code, MACHINE_NO_SIGN, label);
		label = aside->label;
	} else if (aside != NULL) {
		machine_code_branch(copier->code, MACHINE_SIGN, aside->label);
		point_give_back(copier->code, &aside->loan);
	}
	machine_code_branch(copier->code, MACHINE_JUMP, label);
}

void copier_turn_place(struct copier *copier, uint32_t crossing, uint32_t label)
{
	if (copier->copy->crossings != NULL)
		copier->copy->crossings[crossing] = label;
}

/*
 * Who comes back has recorded as long as is wanted. But he may have been called by a recording
 * copy, into which he returns: so its next check is to lead away from there as well, and that
 * is the end of no burst.
 */
static void emit_end(struct machine_code *code, const struct copy_turns *turns)
{
	uint32_t ended = machine_code_label(code);

	emit_set(code, records_at(turns), 0);
	emit_compare(code, checks_at(turns), 0);
	machine_code_branch(code, MACHINE_NO_SIGN, ended);
	emit_increment(code, turns->at + (uint32_t)offsetof(struct profile_layout_turns, burst));
	emit_set(code, checks_at(turns), turns->checks - 1);
	machine_code_place(code, ended);
}

/*
 * The check that leads into the other copy is the first one there: one less is left. In the
 * middle of a burst it is one of it, and may be its end: then all goes on here.
 */
static void emit_begin(struct copier *copier, const struct aside *aside)
{
	const struct copy_turns *turns = &copier->source->turns;
	struct machine_code *code = copier->code;
	uint32_t begins = machine_code_label(code), cross = machine_code_label(code);

	emit_compare(code, checks_at(turns), -1);
	machine_code_branch(code, MACHINE_EQUAL, begins);
	emit_count_down(code, records_at(turns));
	machine_code_branch(code, MACHINE_NO_SIGN, cross);
	emit_end(code, turns);
	point_give_back(code, &aside->loan);
	machine_code_branch(code, MACHINE_JUMP, aside->back);
	machine_code_place(code, begins);
	emit_set(code, records_at(turns), turns->records - 1);
	machine_code_place(code, cross);
}

void copier_turn_cross(struct copier *copier, const struct aside *aside)
{
	const struct copy_turns *turns = &copier->source->turns;

	if (copier->source->variant == COPY_INSTRUMENTED)
		emit_end(copier->code, turns);
	else if (aside->counts && turns->checks > 0)
		emit_begin(copier, aside);
	point_give_back(copier->code, &aside->loan);
	machine_code_enter(copier->code, MACHINE_JUMP, COPY_CROSSING | aside->crossing);
}
