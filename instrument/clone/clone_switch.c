// SPDX-License-Identifier: GPL-2.0-only
/*
 * A procedure has two clones. The checking clone only tests if it is time to record. The recording
 * clone records until it has passed enough checks (Arnold and Ryder, "A framework for reducing the
 * cost of instrumented code", 2001). Each has a counter per thread, which counts down at checks: at
 * entries and on back edges (burst_switch_placement.h). Below zero, the other clone is to run.
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
#include "instrument/clone/clone.h"

#include <stdlib.h>

#include "instrument/clone/burst_switch_code.h"
#include "instrument/clone/burst_switch_entries.h"

#define RED_ZONE_BYTES 128

static uint32_t clone_switch_count(const struct clone *clone)
{
	return 2 * clone->cfg->block_count + 1 + (uint32_t)clone->strides.count;
}

uint32_t clone_switch_of_block(const struct clone *clone, uint32_t block)
{
	(void)clone;
	return block;
}

uint32_t clone_switch_of_entry(const struct clone *clone)
{
	return 2 * clone->cfg->block_count;
}

uint32_t clone_switch_of_site(const struct clone *clone, uint32_t block)
{
	return clone->cfg->block_count + block;
}

uint32_t clone_switch_of_edge(const struct clone *clone, uint32_t cfg_edge)
{
	uint32_t stride = clone->stride_of[cfg_edge];

	if (stride != COUNT_NONE && !clone->strides.all[stride].closed)
		return clone_switch_of_entry(clone) + 1 + stride;
	return clone_switch_of_block(clone, clone->cfg->edges[cfg_edge].to);
}

static bool is_event(void *context, uint32_t insn)
{
	return clone_point_is_event(context, insn);
}

int clone_switch_prepare(struct clone *clone)
{
	const struct burst_switch *bursts = &clone->source->bursts;
	int r;

	if (clone->source->variant == CLONE_ONLY)
		return 0;
	r = burst_switch_loops_find(&clone->loops, clone->cfg, bursts->placement.unchecked,
				    is_event, clone);
	if (r == 0 && (bursts->placement.entries != BURST_SWITCH_ENTRIES_ALL ||
		       bursts->placement.unchecked != BURST_SWITCH_LOOPS_ALL))
		r = burst_switch_strides_find(&clone->strides, clone->cfg, &clone->loops);
	if (r == 0)
		clone->result->crossings =
			calloc(clone_switch_count(clone), sizeof(*clone->result->crossings));
	return clone->result->crossings != NULL ? 0 : -ENOMEM;
}

int clone_switch_loops(struct clone *clone)
{
	const struct clone_source *source = clone->source;
	int r = 0;

	if (source->variant != CLONE_ONLY || source->mode->loops == NULL)
		return 0;
	for (uint32_t e = 0; r == 0 && e < clone->cfg->edge_count; e++) {
		const struct cfg_edge *edge = &clone->cfg->edges[e];

		if (edge->kind == CFG_EDGE_TAKEN && edge->to == edge->from &&
		    source->mode->loops(source->plan, clone->edge_of[e]))
			r = burst_switch_strides_add(&clone->strides, e, edge->to,
						     MODE_LOOP_UNROLL - 1);
	}
	return r;
}

bool clone_switch_is_of_stride(const struct clone *clone, uint32_t stride, uint32_t cfg_edge)
{
	uint32_t back = clone->strides.all[stride].edge;

	if (clone->source->variant == CLONE_ONLY)
		return cfg_edge == back;
	return burst_switch_strides_leads_back(clone->cfg, &clone->loops,
					       clone->cfg->edges[back].to, cfg_edge);
}

bool clone_switch_on_edge(const struct clone *clone, uint32_t cfg_edge)
{
	return clone->source->variant != CLONE_ONLY && clone->loops.checked[cfg_edge];
}

bool clone_switch_leads_back(const struct clone *clone, uint32_t block)
{
	const struct cfg_block *to = &clone->cfg->blocks[block];

	for (uint32_t i = to->in; i < to->in + to->in_count; i++) {
		if (clone_switch_on_edge(clone, clone->cfg->in_edges[i]))
			return true;
	}
	return false;
}

bool clone_switch_on_site(const struct clone *clone, uint32_t block)
{
	const struct cfg_block *to = &clone->cfg->blocks[block];

	for (uint32_t i = to->in; i < to->in + to->in_count; i++) {
		uint32_t edge = clone->cfg->in_edges[i];

		if (clone->cfg->edges[edge].kind == CFG_EDGE_SWITCH &&
		    clone_switch_on_edge(clone, edge))
			return true;
	}
	return false;
}

bool clone_switch_at_entry(const struct clone *clone, uint32_t number)
{
	return clone->source->variant != CLONE_ONLY &&
	       clone->source->checked[number] == BURST_SWITCH_ENTRY_EACH;
}

bool clone_switch_from_outside(const struct clone *clone)
{
	return clone->source->checked[clone->source->number] == BURST_SWITCH_ENTRY_OUTSIDE;
}

/* Recording clones have only checks that count, and none at all if recording never ends. */
static bool is_needed(const struct clone *clone, const struct clone_check *check)
{
	return clone->source->variant == CLONE_CHECKING ||
	       (check->counts && clone->source->bursts.checks > 0);
}

bool clone_switch_crosses(const struct clone *clone)
{
	const struct burst_switch *bursts = &clone->source->bursts;

	return clone->source->variant == CLONE_INSTRUMENTED && bursts->checks > 0 &&
	       bursts->records == 1;
}

/* If there are several counters, successive checks use them in rotation: each decrement waits for
 * the previous store to its own counter. */
static uint32_t next_counter(struct clone *clone, const struct clone_check *check)
{
	uint32_t counters = clone->source->bursts.counters;

	if (counters < 2 || check->landing || !check->counts)
		return 0;
	return (clone->source->number + clone->checks++) % counters;
}

/* Emit the test that selects the clone to run. @back: label to continue at in this clone. Return:
 * the out-of-line code that switches to the other clone; NULL: this clone always continues. */
static struct cold_stub *emit_check(struct clone *clone, const struct clone_check *check,
				    uint32_t back)
{
	const struct burst_switch *bursts = &clone->source->bursts;
	bool checks = clone->source->variant == CLONE_CHECKING;
	struct cold_stub cross = {.kind = COLD_STUB_CROSS,
				  .crossing = check->crossing,
				  .counts = check->counts,
				  .carries = check->counts && (check->live & LIVENESS_CARRY) != 0,
				  .back = back};
	struct point point = {
		.live = check->counts ? check->live & ~LIVENESS_CARRY : check->live,
		.free = liveness_free_registers(clone->source->liveness, check->live),
		.red_zone = check->red_zone,
	};

	if (!is_needed(clone, check))
		return NULL;
	cross.counter = checks ? next_counter(clone, check) : 0;
	scratch_acquire(clone->code, &point, 0, 0, true, &cross.scratch);
	cross.carries = cross.carries && !cross.scratch.flags;
	if (check->counts && !checks)
		burst_switch_code_count_down(clone->code, burst_switch_code_records(bursts));
	else if (check->counts)
		burst_switch_code_count_down(
			clone->code,
			burst_switch_code_checks(clone->source->runtime, cross.counter));
	else
		burst_switch_code_compare(clone->code,
					  burst_switch_code_checks(clone->source->runtime, 0), 0);
	return clone_add_cold_stub(clone, cross);
}

void clone_switch_emit(struct clone *clone, const struct clone_check *check)
{
	uint32_t after = machine_code_label(clone->code);
	struct cold_stub *cold_stub = emit_check(clone, check, after);

	if (cold_stub != NULL) {
		machine_code_branch(clone->code, MACHINE_SIGN, cold_stub->label);
		scratch_release(clone->code, &cold_stub->scratch);
	}
	machine_code_bind_label(clone->code, after);
}

void clone_switch_emit_to(struct clone *clone, const struct clone_check *check, uint32_t label)
{
	struct cold_stub *cold_stub = emit_check(clone, check, label);

	if (cold_stub != NULL && !cold_stub->scratch.flags) {
		machine_code_branch(clone->code, MACHINE_NO_SIGN, label);
		label = cold_stub->label;
	} else if (cold_stub != NULL) {
		machine_code_branch(clone->code, MACHINE_SIGN, cold_stub->label);
		scratch_release(clone->code, &cold_stub->scratch);
	}
	machine_code_branch(clone->code, MACHINE_JUMP, label);
}

void clone_switch_place(struct clone *clone, uint32_t crossing, uint32_t label)
{
	if (clone->result->crossings != NULL)
		clone->result->crossings[crossing] = label;
}

/* Move the stack pointer below the red zone, and save the flags if the carry is live: checks must
 * preserve it. */
static void begin_cold_stub(struct machine_code *code, const struct cold_stub *cold_stub)
{
	static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80}; /* lea -128(%rsp), %rsp */
	static const uint8_t push[] = {0x9c};			      /* pushfq */

	machine_code_bytes(code, down, sizeof(down));
	machine_code_stack(code, RED_ZONE_BYTES);
	if (!cold_stub->carries)
		return;
	machine_code_bytes(code, push, sizeof(push));
	machine_code_stack(code, 8);
}

static void end_cold_stub(struct machine_code *code, const struct cold_stub *cold_stub)
{
	static const uint8_t pop[] = {0x9d}; /* popfq */
	/* lea 128(%rsp), %rsp */
	static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, RED_ZONE_BYTES, 0, 0, 0};

	if (cold_stub->carries) {
		machine_code_bytes(code, pop, sizeof(pop));
		machine_code_stack(code, -8);
	}
	machine_code_bytes(code, up, sizeof(up));
	machine_code_stack(code, -RED_ZONE_BYTES);
	scratch_release(code, &cold_stub->scratch);
}

/* The routine (burst_switch_code.h) may find that this clone is to continue; it returns that in the
 * carry. */
static void emit_routine(struct clone *clone, const struct cold_stub *cold_stub)
{
	struct machine_code *code = clone->code;
	uint32_t cross = machine_code_label(code);

	machine_code_enter(code, MACHINE_CALL,
			   cold_stub->counts ? BURST_SWITCH_CODE_COUNTED(cold_stub->counter)
					     : BURST_SWITCH_CODE_TESTED);
	machine_code_branch(code, MACHINE_CARRY, cross);
	end_cold_stub(code, cold_stub);
	machine_code_branch(code, MACHINE_JUMP, cold_stub->back);
	machine_code_bind_label(code, cross);
}

void clone_switch_cross(struct clone *clone, const struct cold_stub *cold_stub)
{
	begin_cold_stub(clone->code, cold_stub);
	if (clone->source->variant == CLONE_CHECKING)
		emit_routine(clone, cold_stub);
	else
		burst_switch_code_end(clone->code, clone->source->runtime, &clone->source->bursts,
				      0);
	end_cold_stub(clone->code, cold_stub);
	machine_code_enter(clone->code, MACHINE_JUMP, CLONE_CROSSING | cold_stub->crossing);
}
