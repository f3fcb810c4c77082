// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/codegen/runtime_code.h"

#include <string.h>

#include "instrument/codegen/point.h"

#define RED_ZONE_BYTES 128

static void runtime_code_put_u32(uint8_t *out, uint32_t value)
{
	memcpy(out, &value, sizeof(value));
}

/* mov slot(%rip), %reg; cmpl $, %fs:(%reg), with a displacement for registers that require one */
static void emit_slot(struct machine_code *code, uint32_t ready, unsigned int reg)
{
	uint8_t load[] = {(uint8_t)(0x48 | (reg >= 8 ? 4 : 0)),
			  0x8b,
			  (uint8_t)(0x05 | (reg & 7) << 3),
			  0,
			  0,
			  0,
			  0};
	uint8_t compare[] = {0x64, 0x41, 0x81, (uint8_t)(0x78 | (reg & 7)), 0x24, 0, 0, 0, 0, 0};
	size_t bytes = sizeof(compare);

	runtime_code_put_u32(compare + 6, ready);
	machine_code_refer(code, load, sizeof(load), 3, RUNTIME_CODE_SLOT);
	if ((reg & 7) != MACHINE_RSP) /* no SIB byte */
		memmove(compare + 4, compare + 5, --bytes - 4);
	if (reg < 8)
		memmove(compare + 1, compare + 2, --bytes - 1);
	machine_code_bytes(code, compare, bytes);
}

/* mov guard(%rip), %reg; cmp %reg, %fs:slot: overflows if both words are ready. */
static void check_both(struct machine_code *code, const struct runtime_code *runtime,
		       unsigned int reg, uint32_t otherwise)
{
	uint8_t load[] = {0x44, 0x8b, (uint8_t)(0x05 | (reg & 7) << 3), 0, 0, 0, 0};
	uint8_t compare[] = {0x64, 0x44, 0x39, (uint8_t)(0x04 | (reg & 7) << 3), 0x25, 0, 0, 0, 0};
	size_t skip = reg < 8 ? 1 : 0; /* the REX prefix */

	runtime_code_put_u32(compare + 5, (uint32_t)(int32_t)runtime->slot);
	machine_code_refer(code, load + skip, sizeof(load) - skip, 3 - skip, RUNTIME_CODE_GUARD);
	compare[skip] = compare[0];
	machine_code_bytes(code, compare + skip, sizeof(compare) - skip);
	machine_code_branch(code, MACHINE_NO_OVERFLOW, otherwise);
}

static void check_each(struct machine_code *code, const struct runtime_code *runtime,
		       const struct scratch_regs *scratch, uint32_t otherwise)
{
	uint8_t slot[] = {0x64, 0x81, 0x3c, 0x25, 0, 0, 0, 0, 0, 0, 0, 0}; /* cmpl $, %fs: */
	uint8_t guard[] = {0x81, 0x3d, 0, 0, 0, 0, 0, 0, 0, 0};		   /* cmpl $, (%rip) */

	if (runtime->shared) {
		emit_slot(code, runtime->ready, scratch->registers[0]);
	} else {
		runtime_code_put_u32(slot + 4, (uint32_t)(int32_t)runtime->slot);
		runtime_code_put_u32(slot + 8, runtime->ready);
		machine_code_bytes(code, slot, sizeof(slot));
	}
	runtime_code_put_u32(guard + 6, runtime->process_ready);
	machine_code_branch(code, MACHINE_NOT_EQUAL, otherwise);
	machine_code_refer(code, guard, sizeof(guard), 2, RUNTIME_CODE_GUARD);
	machine_code_branch(code, MACHINE_NOT_EQUAL, otherwise);
}

void runtime_code_check(struct machine_code *code, const struct runtime_code *runtime,
			const struct point *point, uint32_t otherwise, struct scratch_regs *scratch)
{
	struct point entry = *point;
	bool both;

	entry.free &= ~RUNTIME_CODE_HANDLED;
	both = !runtime->shared && point_free(&entry, 0) > 0;
	scratch_acquire(code, &entry, 0, both || runtime->shared ? 1 : 0, true, scratch);
	if (both)
		check_both(code, runtime, scratch->registers[0], otherwise);
	else
		check_each(code, runtime, scratch, otherwise);
	scratch_release(code, scratch);
}

/* lea @bytes(%rsp), %rsp: does not change flags */
static void emit_move_stack(struct machine_code *code, int32_t bytes)
{
	uint8_t lea[] = {0x48, 0x8d, 0xa4, 0x24, 0, 0, 0, 0};

	if (bytes >= INT8_MIN && bytes <= INT8_MAX) {
		lea[2] = 0x64;
		lea[4] = (uint8_t)bytes;
		machine_code_bytes(code, lea, 5);
	} else {
		runtime_code_put_u32(lea + 4, (uint32_t)bytes);
		machine_code_bytes(code, lea, sizeof(lea));
	}
	machine_code_stack(code, -bytes);
}

static void emit_push(struct machine_code *code, uint32_t value)
{
	uint8_t push[] = {0x68, 0, 0, 0, 0};

	runtime_code_put_u32(push + 1, value);
	machine_code_bytes(code, push, sizeof(push));
	machine_code_stack(code, 8);
}

void runtime_code_enter(struct machine_code *code, const struct scratch_regs *scratch)
{
	emit_move_stack(code, -RED_ZONE_BYTES);
	machine_code_enter(code, MACHINE_CALL, RUNTIME_CODE_ENTER);
	emit_move_stack(code, RED_ZONE_BYTES);
	scratch_release(code, scratch);
}

void runtime_code_slow(struct machine_code *code, const struct point *point, unsigned int depth,
		       uint16_t operation, int32_t argument)
{
	bool lowers = point->red_zone && depth < RED_ZONE_BYTES;

	if (lowers) {
		emit_move_stack(code, -RED_ZONE_BYTES);
		depth += RED_ZONE_BYTES;
	}
	emit_push(code, (uint32_t)argument);
	emit_push(code, (uint32_t)operation << 16 | depth);
	machine_code_enter(code, MACHINE_CALL, RUNTIME_CODE_SLOW);
	emit_move_stack(code, 16 + (lowers ? RED_ZONE_BYTES : 0));
}
