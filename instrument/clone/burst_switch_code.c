// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/burst_switch_code.h"

#include <stddef.h>
#include <string.h>

#define SEGMENT_FS 0x64
#define SEGMENT_GS 0x65

/* --- counters ------------------------------------------------------------- */

struct switch_counter burst_switch_code_checks(const struct runtime_code *runtime, uint32_t counter)
{
	int64_t first = runtime->slot + PROFILE_LAYOUT_SLOT_CHECKS;

	return (struct switch_counter){SEGMENT_FS, (uint32_t)first + counter * sizeof(uint32_t)};
}

static struct switch_counter in_area(const struct burst_switch *bursts, size_t field)
{
	return (struct switch_counter){SEGMENT_GS, bursts->at + (uint32_t)field};
}

struct switch_counter burst_switch_code_records(const struct burst_switch *bursts)
{
	return in_area(bursts, offsetof(struct profile_layout_switch, records));
}

/* Emit an instruction with a counter as its operand, and optionally an immediate. */
static void emit(struct machine_code *code, struct switch_counter number, uint8_t opcode,
		 uint8_t extension, const void *immediate, size_t bytes)
{
	uint8_t out[12] = {number.segment, opcode, (uint8_t)(0x04 | extension << 3), 0x25};

	memcpy(out + 4, &number.at, sizeof(number.at));
	if (bytes > 0)
		memcpy(out + 8, immediate, bytes);
	machine_code_bytes(code, out, 8 + bytes);
}

/* decl */
void burst_switch_code_count_down(struct machine_code *code, struct switch_counter number)
{
	emit(code, number, 0xff, 1, NULL, 0);
}

/* cmpl */
void burst_switch_code_compare(struct machine_code *code, struct switch_counter number, int8_t with)
{
	emit(code, number, 0x83, 7, &with, sizeof(with));
}

/* incl */
static void emit_increment(struct machine_code *code, struct switch_counter number)
{
	emit(code, number, 0xff, 0, NULL, 0);
}

/* notl */
static void emit_complement(struct machine_code *code, struct switch_counter number)
{
	emit(code, number, 0xf7, 2, NULL, 0);
}

/* movl */
static void emit_set(struct machine_code *code, struct switch_counter number, uint32_t value)
{
	emit(code, number, 0xc7, 0, &value, sizeof(value));
}

/* addl */
static void emit_add(struct machine_code *code, struct switch_counter number, uint32_t value)
{
	emit(code, number, 0x81, 0, &value, sizeof(value));
}

/* --- bursts --------------------------------------------------------------- */

/*
 * The recording clone has recorded enough. But it may have been called by another recording clone,
 * to which it returns. The next check there has to leave that clone as well, without ending a
 * burst.
 */
void burst_switch_code_end(struct machine_code *code, const struct runtime_code *runtime,
			   const struct burst_switch *bursts, uint32_t counter)
{
	struct switch_counter checks = burst_switch_code_checks(runtime, counter);
	uint32_t ended = machine_code_label(code), counted = machine_code_label(code);

	emit_set(code, burst_switch_code_records(bursts), 0);
	burst_switch_code_compare(code, checks, 0);
	machine_code_branch(code, MACHINE_NO_SIGN, ended);
	emit_increment(code, in_area(bursts, offsetof(struct profile_layout_switch, burst)));
	if (bursts->counters > 1 && counter == 0) {
		burst_switch_code_compare(code, checks, -PROFILE_LAYOUT_CHECKS_KEPT);
		machine_code_branch(code, MACHINE_NOT_LESS, counted);
		emit_complement(code, checks);
		machine_code_branch(code, MACHINE_JUMP, ended);
	}
	machine_code_bind_label(code, counted);
	emit_set(code, checks, bursts->checks - 1);
	machine_code_bind_label(code, ended);
}

static void emit_answer(struct machine_code *code, bool crosses)
{
	const uint8_t answer[] = {crosses ? 0xf9 : 0xf8, 0xc3}; /* stc or clc; ret */

	machine_code_bytes(code, answer, sizeof(answer));
}

/*
 * The check that leads to the other clone is the first one of the burst: one less remains. In the
 * middle of a burst it is one of the burst's checks, and may be the last: then this clone
 * continues.
 */
static void emit_begin(struct machine_code *code, const struct runtime_code *runtime,
		       const struct burst_switch *bursts, uint32_t counter)
{
	uint32_t begins = machine_code_label(code), cross = machine_code_label(code);
	uint32_t fresh = machine_code_label(code);

	burst_switch_code_compare(code, burst_switch_code_checks(runtime, counter), -1);
	machine_code_branch(code, MACHINE_EQUAL, begins);
	burst_switch_code_count_down(code, burst_switch_code_records(bursts));
	machine_code_branch(code, MACHINE_NO_SIGN, cross);
	burst_switch_code_end(code, runtime, bursts, counter);
	emit_answer(code, false);
	machine_code_bind_label(code, begins);
	burst_switch_code_compare(code, burst_switch_code_records(bursts), 0);
	machine_code_branch(code, MACHINE_EQUAL, fresh);
	emit_increment(code, in_area(bursts, offsetof(struct profile_layout_switch, burst)));
	machine_code_bind_label(code, fresh);
	emit_set(code, burst_switch_code_records(bursts), bursts->records - 1);
	if (bursts->charged != 0)
		emit_add(code, (struct switch_counter){SEGMENT_GS, bursts->charged + 4},
			 1U << (BURST_SWITCH_CHARGE_BITS - 32));
	machine_code_bind_label(code, cross);
}

/*
 * A thread or process that the runtime does not know has no memory to record in. Its check counters
 * start below zero, or are those of its parent. The runtime sets them, and they are tested again.
 */
void burst_switch_code_routine(struct machine_code *code, const struct runtime_code *runtime,
			       const struct burst_switch *bursts, bool counts, uint32_t counter)
{
	uint32_t ready = machine_code_label(code), enter = machine_code_label(code);
	const struct point point = {.free = 0};
	struct scratch_regs scratch;

	runtime_code_check(code, runtime, &point, enter, &scratch);
	machine_code_bind_label(code, ready);
	if (counts && bursts->checks > 0)
		emit_begin(code, runtime, bursts, counter);
	emit_answer(code, true);
	machine_code_bind_label(code, enter);
	runtime_code_enter(code, &scratch);
	if (counts)
		burst_switch_code_count_down(code, burst_switch_code_checks(runtime, counter));
	else
		burst_switch_code_compare(code, burst_switch_code_checks(runtime, 0), 0);
	machine_code_branch(code, MACHINE_SIGN, ready);
	emit_answer(code, false);
}
