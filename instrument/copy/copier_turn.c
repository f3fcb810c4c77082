// SPDX-License-Identifier: GPL-2.0-only
/*
 * A procedure has two clones. The checking clone only tests if it is time to record. The recording
 * clone records until it has passed enough checks (Arnold and Ryder, "A framework for reducing the
 * cost of instrumented code", 2001). Each has a counter per thread, which counts down at checks: at
 * entries and on back edges (turn_placement.h). Below zero, the other clone is to run.
 *
 * The counter of the checking clone is thread-local. It is below zero as long as the thread has no
 * memory to record in, so no separate test is needed.
 *
 * A burst continues over calls and returns (Hirzel and Chilimbi, "Bursty tracing", 2001). If a
 * checking clone is called during a burst, its counter is still below zero. A procedure without a
 * check on each entry is called by recording clones at its recording clone.
 *
 * Other code knows only original addresses, which lead to checking clones. The check there tests
 * which clone is to run, even if it does not count.
 */
#include "instrument/copy/copier.h"

#include <stdlib.h>

#include "instrument/copy/turn_code.h"
#include "instrument/copy/turn_entries.h"

#define MACHINE_CARRY 2
#define MACHINE_SIGN 8
#define MACHINE_NO_SIGN 9
#define RED_ZONE_BYTES 128

uint32_t copier_turn_count(const struct copier *copier)
{
	return 2 * copier->cfg->block_count + 1 + (uint32_t)copier->strides.count;
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

uint32_t copier_turn_of_edge(const struct copier *copier, uint32_t cfg_edge)
{
	uint32_t stride = copier->stride_of[cfg_edge];

	if (stride != COUNT_NONE && !copier->strides.all[stride].closed)
		return copier_turn_of_entry(copier) + 1 + stride;
	return copier_turn_of_block(copier, copier->cfg->edges[cfg_edge].to);
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
	if (r == 0 && (turns->placement.entries != TURN_ENTRIES_ALL ||
		       turns->placement.boring != TURN_LOOPS_ALL))
		r = turn_strides_find(&copier->strides, copier->cfg, &copier->loops);
	if (r == 0)
		copier->copy->crossings =
			calloc(copier_turn_count(copier), sizeof(*copier->copy->crossings));
	return copier->copy->crossings != NULL ? 0 : -ENOMEM;
}

int copier_turn_loops(struct copier *copier)
{
	const struct copy_source *source = copier->source;
	int r = 0;

	if (source->variant != COPY_ONLY || source->mode->loops == NULL)
		return 0;
	for (uint32_t e = 0; r == 0 && e < copier->cfg->edge_count; e++) {
		const struct cfg_edge *edge = &copier->cfg->edges[e];

		if (edge->kind == CFG_EDGE_TAKEN && edge->to == edge->from &&
		    source->mode->loops(source->plan, copier->edge_of[e]))
			r = turn_strides_add(&copier->strides, e, edge->to, MODE_LOOP_TURNS - 1);
	}
	return r;
}

bool copier_turn_is_of_stride(const struct copier *copier, uint32_t stride, uint32_t cfg_edge)
{
	uint32_t back = copier->strides.all[stride].edge;

	if (copier->source->variant == COPY_ONLY)
		return cfg_edge == back;
	return turn_strides_leads_back(copier->cfg, &copier->loops, copier->cfg->edges[back].to,
				       cfg_edge);
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

/* Recording clones have only checks that count, and none at all if recording never ends. */
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

/* If there are several counters, successive checks use them in rotation: each decrement waits for
 * the previous store to its own counter. */
static uint32_t next_counter(struct copier *copier, const struct turn *turn)
{
	uint32_t counters = copier->source->turns.counters;

	if (counters < 2 || turn->landing || !turn->counts)
		return 0;
	return (copier->source->number + copier->checks++) % counters;
}

/* Emit the test that selects the clone to run. @back: label to continue at in this clone. Return:
 * the out-of-line code that switches to the other clone; NULL: this clone always continues. */
static struct aside *emit_check(struct copier *copier, const struct turn *turn, uint32_t back)
{
	const struct copy_turns *turns = &copier->source->turns;
	bool checks = copier->source->variant == COPY_CHECKING;
	struct aside cross = {.kind = ASIDE_CROSS,
			      .crossing = turn->crossing,
			      .counts = turn->counts,
			      .carries = turn->counts && (turn->live & LIVENESS_CARRY) != 0,
			      .back = back};
	struct point point = {
		.live = turn->counts ? turn->live & ~LIVENESS_CARRY : turn->live,
		.free = liveness_free_registers(copier->source->liveness, turn->live),
		.red_zone = turn->red_zone,
	};

	if (!is_needed(copier, turn))
		return NULL;
	cross.counter = checks ? next_counter(copier, turn) : 0;
	point_borrow(copier->code, &point, 0, 0, true, &cross.loan);
	cross.carries = cross.carries && !cross.loan.flags;
	if (turn->counts && !checks)
		turn_code_count_down(copier->code, turn_code_records(turns));
	else if (turn->counts)
		turn_code_count_down(copier->code,
				     turn_code_checks(copier->source->runtime, cross.counter));
	else
		turn_code_compare(copier->code, turn_code_checks(copier->source->runtime, 0), 0);
	return copier_add_aside(copier, cross);
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

/* Move the stack pointer below the red zone, and save the flags if the carry is live: checks must
 * preserve it. */
static void begin_aside(struct machine_code *code, const struct aside *aside)
{
	static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80}; /* lea -128(%rsp), %rsp */
	static const uint8_t push[] = {0x9c};			      /* pushfq */

	machine_code_bytes(code, down, sizeof(down));
	machine_code_stack(code, RED_ZONE_BYTES);
	if (!aside->carries)
		return;
	machine_code_bytes(code, push, sizeof(push));
	machine_code_stack(code, 8);
}

static void end_aside(struct machine_code *code, const struct aside *aside)
{
	static const uint8_t pop[] = {0x9d}; /* popfq */
	/* lea 128(%rsp), %rsp */
	static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, RED_ZONE_BYTES, 0, 0, 0};

	if (aside->carries) {
		machine_code_bytes(code, pop, sizeof(pop));
		machine_code_stack(code, -8);
	}
	machine_code_bytes(code, up, sizeof(up));
	machine_code_stack(code, -RED_ZONE_BYTES);
	point_give_back(code, &aside->loan);
}

/* The routine (turn_code.h) may find that this clone is to continue; it returns that in the
 * carry. */
static void emit_routine(struct copier *copier, const struct aside *aside)
{
	struct machine_code *code = copier->code;
	uint32_t cross = machine_code_label(code);

	machine_code_enter(code, MACHINE_CALL,
			   aside->counts ? TURN_CODE_COUNTED(aside->counter) : TURN_CODE_LOOKED);
	machine_code_branch(code, MACHINE_CARRY, cross);
	end_aside(code, aside);
	machine_code_branch(code, MACHINE_JUMP, aside->back);
	machine_code_place(code, cross);
}

void copier_turn_cross(struct copier *copier, const struct aside *aside)
{
	begin_aside(copier->code, aside);
	if (copier->source->variant == COPY_CHECKING)
		emit_routine(copier, aside);
	else
		turn_code_end(copier->code, copier->source->runtime, &copier->source->turns, 0);
	end_aside(copier->code, aside);
	machine_code_enter(copier->code, MACHINE_JUMP, COPY_CROSSING | aside->crossing);
}
