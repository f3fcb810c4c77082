// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/calls/call_code.h"

#include <stdlib.h>

#include "instrument/codegen/block_code.h"
#include "instrument/codegen/liveness.h"
#include "instrument/codegen/runtime_code.h"
#include "lib/array.h"

#define BIT(reg) (1U << (reg))
#define FRAME_BYTES ((int32_t)sizeof(struct call_frame))

struct call_cold_stub {
	struct point point;
	struct scratch_regs scratch;
	struct scratch_regs more;
	unsigned int
		registers[POINT_REGISTERS_MAX]; /* at entries: the registers of @scratch and @more
						 * */
	unsigned int count;
	enum call_operation operation;
	uint32_t missed; /* at entries: not found in the procedure's own table */
	uint32_t found;
	uint32_t full;	      /* CALL_OPERATION_ENTER: no room for a frame */
	uint32_t missed_slow; /* as @slow, but @more is also to be released */
	uint32_t slow;
	uint32_t done;
};

void call_code_deinit(struct call_code *calls)
{
	free(calls->cold_stubs);
	*calls = (struct call_code){0};
}

/* --- places --------------------------------------------------------------- */

static struct mem_operand in_head(const struct call_code *calls, size_t offset)
{
	return mem_operand(calls->area_at + (uint32_t)offset);
}

static struct mem_operand indexed(const struct call_code *calls, size_t offset, unsigned int reg,
				  unsigned int scale)
{
	return (struct mem_operand){
		.at = calls->area_at + (uint32_t)offset, .index = (int)reg, .scale = scale};
}

/* @reg: an address relative to the base of %gs */
static struct mem_operand call_code_after(unsigned int reg, size_t offset)
{
	return (struct mem_operand){.at = (uint32_t)offset, .index = (int)reg, .scale = 1};
}

#define IN_HEAD(calls, member) in_head(calls, offsetof(struct call_area, head.member))
/* @reg: the depth, as in the head; @above: number of frames above it */
#define IN_FRAME(reg, above, member)                                                               \
	call_code_after(reg,                                                                       \
			(above) * sizeof(struct call_frame) + offsetof(struct call_frame, member))
#define IN_TRANSITION(reg, member) call_code_after(reg, offsetof(struct call_transition, member))

/* --- helpers -------------------------------------------------------------- */

/*
 * Frames are identified by the address of the return address, which is the stack pointer if nothing
 * is pushed.
 */
static unsigned int call_code_place_of(struct machine_code *code,
				       const struct scratch_regs *scratch, unsigned int reg)
{
	if (scratch->depth == 0)
		return MACHINE_RSP;
	block_code_address(code, reg, MACHINE_RSP, (int32_t)scratch->depth);
	return reg;
}

/*
 * Jump to @otherwise if the kernel may have called the procedure. If no register is free, %rsi is
 * changed and restored.
 */
static void check_caller(struct machine_code *code, const struct point *entry, uint32_t otherwise)
{
	static const uint8_t back[] = {0x48, 0x8d, 0x34, 0x16}; /* lea (%rsi, %rdx), %rsi */
	struct point point = *entry;
	struct scratch_regs scratch;

	point.excluded |= RUNTIME_CODE_HANDLED;
	if (point_free(&point, RUNTIME_CODE_HANDLED) > 0) {
		scratch_acquire(code, &point, 0, 1, false, &scratch);
		block_code_address(code, scratch.registers[0], MACHINE_RSI, -CALL_LAYOUT_UCONTEXT);
		block_code_compare(code, scratch.registers[0], MACHINE_RDX);
		machine_code_branch(code, MACHINE_EQUAL, otherwise);
		return;
	}
	block_code_subtract(code, MACHINE_RSI, MACHINE_RDX);
	block_code_alu(code, BLOCK_ALU_COMPARE, MACHINE_RSI, CALL_LAYOUT_UCONTEXT);
	machine_code_bytes(code, back, sizeof(back));
	machine_code_branch(code, MACHINE_EQUAL, otherwise);
}

/*
 * Charge the metric since the last event to a state, as in the runtime. If a signal handler charges
 * its part in between, the exchange fails and the runtime repeats the charge. Changes %rax, %rdx
 * and @reg.
 */
static void charge(const struct call_code *calls, struct machine_code *code, unsigned int state,
		   unsigned int reg, uint32_t slow)
{
	uint32_t done = machine_code_label(code);

	block_code_move(code, BLOCK_LOAD, reg, IN_HEAD(calls, clock));
	if (calls->metric == CALL_METRIC_CYCLES)
		block_code_time(code, MACHINE_RDX);
	else
		block_code_move(code, BLOCK_LOAD, MACHINE_RDX, IN_HEAD(calls, instructions));
	block_code_copy(code, MACHINE_RAX, reg);
	block_code_move(code, BLOCK_EXCHANGE, MACHINE_RDX, IN_HEAD(calls, clock));
	machine_code_branch(code, MACHINE_NOT_EQUAL, slow);
	block_code_subtract(code, MACHINE_RDX, reg);
	machine_code_branch(code, MACHINE_LESS_EQUAL, done);
	block_code_triple(code, reg, state);
	block_code_move(code, BLOCK_ADD_TO, MACHINE_RDX,
			indexed(calls, offsetof(struct call_area, states[0].metric), reg, 8));
	machine_code_bind_label(code, done);
}

static uint32_t metric_registers(const struct call_code *calls)
{
	return calls->metric != CALL_METRIC_NONE ? BIT(MACHINE_RAX) | BIT(MACHINE_RDX) : 0;
}

static struct call_cold_stub call_code_begin(const struct point *point, struct machine_code *code,
					     enum call_operation operation)
{
	return (struct call_cold_stub){.point = *point,
				       .operation = operation,
				       .missed = machine_code_label(code),
				       .found = machine_code_label(code),
				       .missed_slow = machine_code_label(code),
				       .slow = machine_code_label(code),
				       .full = machine_code_label(code),
				       .done = machine_code_label(code)};
}

static void call_code_end(struct call_code *calls, struct machine_code *code,
			  const struct call_cold_stub *cold_stub)
{
	machine_code_bind_label(code, cold_stub->done);
	if (array_reserve(&calls->cold_stubs, &calls->cold_stub_capacity,
			  calls->cold_stub_count + 1, sizeof(*calls->cold_stubs)) < 0)
		code->failed = true;
	else
		calls->cold_stubs[calls->cold_stub_count++] = *cold_stub;
}

/* --- events --------------------------------------------------------------- */

/* Load the state of the last frame, and its call site in the upper half if sites are distinguished.
 */
static void load_state(const struct call_code *calls, struct machine_code *code, unsigned int state,
		       unsigned int depth)
{
	block_code_move(code, calls->sites ? BLOCK_LOAD : BLOCK_LOAD32, state,
			IN_FRAME(depth, 0, state));
}

/* Compare the state, and the site, with those from which a transition leads. */
static void compare_state(const struct call_code *calls, struct machine_code *code,
			  unsigned int state, unsigned int index)
{
	block_code_move(code, calls->sites ? BLOCK_COMPARE : BLOCK_COMPARE32, state,
			IN_TRANSITION(index, from));
}

/*
 * Load the transition's number into @index, if it is in the procedure's table of the last
 * transitions.
 */
static void find_last(const struct call_code *calls, struct machine_code *code, unsigned int state,
		      unsigned int index, uint32_t missed)
{
	block_code_low_byte(code, index, state);
	block_code_move(code, BLOCK_LOAD32, index,
			indexed(calls, offsetof(struct call_area, last[calls->procedure]), index,
				sizeof(uint32_t)));
	compare_state(calls, code, state, index);
	machine_code_branch(code, MACHINE_NOT_EQUAL, missed);
}

/* Load the transition's number into @index, if it is in a way of the cache. */
static void find_cached(const struct call_code *calls, struct machine_code *code,
			unsigned int state, unsigned int index, uint32_t way, uint32_t missed)
{
	block_code_address(code, index, state, (int32_t)call_layout_spread(calls->procedure));
	block_code_alu32(code, BLOCK_ALU_AND, index, CALL_LAYOUT_CACHE - 1);
	block_code_move(code, BLOCK_LOAD32, index,
			indexed(calls, offsetof(struct call_area, cache[way]), index, 4));
	compare_state(calls, code, state, index);
	machine_code_branch(code, MACHINE_NOT_EQUAL, missed);
	block_code_compare32(code, IN_TRANSITION(index, procedure), calls->procedure);
	machine_code_branch(code, MACHINE_NOT_EQUAL, missed);
}

/*
 * Check that the last frame is the caller's, and store the address of the new frame. Above the last
 * frame, the address has no effect yet. A signal handler that runs before the new frame is the last
 * one does not overwrite the address (see struct call_frame).
 */
static void check_last(const struct call_code *calls, struct machine_code *code,
		       const struct call_cold_stub *cold_stub, unsigned int depth, unsigned int reg)
{
	unsigned int stack;

	block_code_move(code, BLOCK_LOAD32, depth, IN_HEAD(calls, depth));
	stack = call_code_place_of(code, &cold_stub->scratch, reg);
	block_code_move(code, BLOCK_COMPARE, stack, IN_FRAME(depth, 0, stack));
	machine_code_branch(code, MACHINE_BELOW_EQUAL, cold_stub->slow);
	if (cold_stub->operation == CALL_OPERATION_ENTER)
		block_code_move(code, BLOCK_STORE, stack, IN_FRAME(depth, 1, stack));
}

/*
 * If there is no room for another frame, the depth is not changed. Threads that could not allocate
 * memory share a block: between the check of a frame and this point, each of them may have changed
 * the depth by one (CALL_LAYOUT_SLACK).
 */
static void push_frame(const struct call_code *calls, struct machine_code *code, unsigned int depth,
		       unsigned int state, uint32_t full)
{
	uint32_t last = calls->area_at +
			(uint32_t)offsetof(struct call_area, frames[CALL_LAYOUT_LAST_FRAME]);

	block_code_alu32(code, BLOCK_ALU_COMPARE, depth, last);
	machine_code_branch(code, MACHINE_NOT_BELOW, full);
	block_code_move(code, BLOCK_STORE, state, IN_FRAME(depth, 1, state)); /* and no @site */
	block_code_add32(code, IN_HEAD(calls, depth), FRAME_BYTES);
}

/*
 * Three registers are best: for the depth, the state and the transition. With two, the depth is
 * loaded again, which costs less than spilling a third register. If only one register is free, the
 * second one is spilled later, when the address of the return address is no longer needed.
 */
static void acquire_registers(const struct call_code *calls, struct machine_code *code,
			      struct call_cold_stub *cold_stub)
{
	uint32_t taken = metric_registers(calls);
	unsigned int free = point_free(&cold_stub->point, taken);
	unsigned int count = free >= 3 && cold_stub->operation == CALL_OPERATION_ENTER ? 3 : 2;

	if (calls->metric != CALL_METRIC_NONE)
		count = free >= 4 ? 4 : 3;
	else if ((cold_stub->point.live & LIVENESS_FLAGS) != 0)
		count = 3;
	else if (free == 1)
		count = 1;
	scratch_acquire(code, &cold_stub->point, taken, count, true, &cold_stub->scratch);
	for (unsigned int i = 0; i < count; i++)
		cold_stub->registers[i] = cold_stub->scratch.registers[i];
	cold_stub->count = count;
}

static void acquire_second_register(struct machine_code *code, struct call_cold_stub *cold_stub)
{
	struct point point = cold_stub->point;

	if (cold_stub->count > 1)
		return;
	point.free |= BIT(cold_stub->registers[0]);
	scratch_acquire(code, &point, BIT(cold_stub->registers[0]), 1, false, &cold_stub->more);
	cold_stub->registers[cold_stub->count++] = cold_stub->more.registers[0];
}

void call_code_outside(struct call_code *calls, const struct point *point,
		       struct machine_code *code)
{
	calls->handler = machine_code_label(code);
	check_caller(code, point, calls->handler);
}

void call_code_enter(struct call_code *calls, const struct point *point, struct machine_code *code,
		     enum call_operation operation)
{
	struct call_cold_stub cold_stub = call_code_begin(point, code, operation);
	unsigned int depth, state, reg;

	acquire_registers(calls, code, &cold_stub);
	depth = cold_stub.registers[0];
	check_last(calls, code, &cold_stub, depth, cold_stub.registers[1]);
	acquire_second_register(code, &cold_stub);
	state = cold_stub.registers[1];
	reg = cold_stub.registers[cold_stub.count == 2 ? 0 : 2];
	load_state(calls, code, state, depth);
	find_last(calls, code, state, reg, cold_stub.missed);
	machine_code_bind_label(code, cold_stub.found);
	if (calls->sites && calls->metric != CALL_METRIC_NONE)
		block_code_alu32(code, BLOCK_ALU_AND, state, UINT32_MAX); /* without the site */
	if (calls->metric != CALL_METRIC_NONE)
		charge(calls, code, state, cold_stub.registers[cold_stub.count == 4 ? 3 : 0],
		       cold_stub.missed_slow);
	block_code_increment(code, IN_TRANSITION(reg, calls));
	if (operation == CALL_OPERATION_ENTER) {
		block_code_move(code, BLOCK_LOAD32, state, IN_TRANSITION(reg, to));
		if (cold_stub.count < (calls->metric != CALL_METRIC_NONE ? 4 : 3))
			block_code_move(code, BLOCK_LOAD32, depth, IN_HEAD(calls, depth));
		push_frame(calls, code, depth, state, cold_stub.full);
	}
	scratch_release(code, &cold_stub.more);
	scratch_release(code, &cold_stub.scratch);
	call_code_end(calls, code, &cold_stub);
}

void call_code_site(const struct call_code *calls, const struct point *point,
		    struct machine_code *code, uint32_t site)
{
	struct scratch_regs scratch;
	unsigned int depth;

	scratch_acquire(code, point, 0, 1, false, &scratch);
	depth = scratch.registers[0];
	block_code_move(code, BLOCK_LOAD32, depth, IN_HEAD(calls, depth));
	block_code_set32(code, IN_FRAME(depth, 0, site), site);
	scratch_release(code, &scratch);
}

/*
 * Return the number of registers needed: one if nothing needs to be spilled, so that the stack
 * pointer is unchanged.
 */
static unsigned int leave_register_count(const struct call_code *calls, const struct point *point)
{
	if (calls->metric != CALL_METRIC_NONE)
		return 3;
	return (point->live & LIVENESS_FLAGS) == 0 && point_free(point, 0) > 0 ? 1 : 2;
}

void call_code_leave(struct call_code *calls, const struct point *point, struct machine_code *code,
		     enum call_operation operation)
{
	struct call_cold_stub cold_stub = call_code_begin(point, code, operation);
	unsigned int depth, state, last;

	scratch_acquire(code, point, metric_registers(calls), leave_register_count(calls, point),
			true, &cold_stub.scratch);
	depth = cold_stub.scratch.registers[0];
	last = cold_stub.scratch.registers[cold_stub.scratch.count - 1];
	block_code_move(code, BLOCK_LOAD32, depth, IN_HEAD(calls, depth));
	block_code_move(code, BLOCK_COMPARE, call_code_place_of(code, &cold_stub.scratch, last),
			IN_FRAME(depth, 0, stack));
	machine_code_branch(code, MACHINE_NOT_EQUAL, cold_stub.slow);
	if (calls->metric != CALL_METRIC_NONE) {
		state = cold_stub.scratch.registers[1];
		block_code_move(code, BLOCK_LOAD32, state, IN_FRAME(depth, 0, state));
		charge(calls, code, state, last, cold_stub.slow);
	}
	block_code_add32(code, IN_HEAD(calls, depth), (uint32_t)-FRAME_BYTES);
	scratch_release(code, &cold_stub.scratch);
	call_code_end(calls, code, &cold_stub);
}

static void emit_slow(const struct call_code *calls, struct machine_code *code,
		      const struct point *point, enum call_operation operation)
{
	runtime_code_slow(code, point, 0, (uint16_t)operation, (int32_t)calls->procedure);
}

void call_code_rare(const struct call_code *calls, const struct point *point,
		    struct machine_code *code, enum call_operation operation)
{
	emit_slow(calls, code, point, operation);
}

/* Look the transition up in the cache. */
static void search_cache(const struct call_code *calls, struct machine_code *code,
			 const struct call_cold_stub *cold_stub)
{
	unsigned int state = cold_stub->registers[1];
	unsigned int index = cold_stub->registers[cold_stub->count == 2 ? 0 : 2];

	machine_code_bind_label(code, cold_stub->missed);
	for (uint32_t way = 0; way < CALL_LAYOUT_WAYS; way++) {
		uint32_t next = way + 1 < CALL_LAYOUT_WAYS ? machine_code_label(code)
							   : cold_stub->missed_slow;

		find_cached(calls, code, state, index, way, next);
		machine_code_branch(code, MACHINE_JUMP, cold_stub->found);
		if (next != cold_stub->missed_slow)
			machine_code_bind_label(code, next);
	}
	machine_code_bind_label(code, cold_stub->missed_slow);
	scratch_release(code, &cold_stub->more);
}

/* Count a call that has no frame. */
static void count_lost_frame(const struct call_code *calls, struct machine_code *code,
			     const struct call_cold_stub *cold_stub)
{
	machine_code_bind_label(code, cold_stub->full);
	block_code_increment(code, IN_HEAD(calls, losses[CALL_LOSS_DEEP]));
	scratch_release(code, &cold_stub->more);
	scratch_release(code, &cold_stub->scratch);
	machine_code_branch(code, MACHINE_JUMP, cold_stub->done);
}

static bool is_entry(const struct call_cold_stub *cold_stub)
{
	return cold_stub->operation == CALL_OPERATION_ENTER ||
	       cold_stub->operation == CALL_OPERATION_VISIT;
}

void call_code_emit_cold_stubs(const struct call_code *calls, struct machine_code *code)
{
	for (size_t i = 0; i < calls->cold_stub_count; i++) {
		const struct call_cold_stub *cold_stub = &calls->cold_stubs[i];

		if (cold_stub->operation == CALL_OPERATION_ENTER)
			count_lost_frame(calls, code, cold_stub);
		if (is_entry(cold_stub))
			search_cache(calls, code, cold_stub);
		machine_code_bind_label(code, cold_stub->slow);
		scratch_release(code, &cold_stub->scratch);
		if (is_entry(cold_stub) && calls->handles)
			machine_code_bind_label(code, calls->handler);
		emit_slow(calls, code, &cold_stub->point, cold_stub->operation);
		machine_code_branch(code, MACHINE_JUMP, cold_stub->done);
	}
}
