// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/count_code.h"

#include <string.h>

static void put_u32(uint8_t *out, uint32_t value)
{
	memcpy(out, &value, sizeof(value));
}

/* mov %gs:@at, %reg and back */
static void emit_gs_move(struct machine_code *code, bool load, unsigned int reg, uint32_t at)
{
	uint8_t bytes[] = {0x65,
			   (uint8_t)(0x48 | (reg >= 8 ? 4 : 0)),
			   load ? 0x8b : 0x89,
			   (uint8_t)(0x04 | (reg & 7) << 3),
			   0x25,
			   0,
			   0,
			   0,
			   0};

	put_u32(bytes + 5, at);
	machine_code_bytes(code, bytes, sizeof(bytes));
}

/* lea 1(%reg), %reg: adds without flags */
static void emit_lea_one(struct machine_code *code, unsigned int reg)
{
	uint8_t bytes[] = {(uint8_t)(0x48 | (reg >= 8 ? 5 : 0)), 0x8d,
			   (uint8_t)(0x40 | (reg & 7) << 3 | (reg & 7)), 0x24, 1};

	if ((reg & 7) == MACHINE_RSP) { /* r12: with an index byte */
		machine_code_bytes(code, bytes, sizeof(bytes));
		return;
	}
	bytes[3] = 1;
	machine_code_bytes(code, bytes, 4);
}

/*
 * inc keeps the carry. Where other flags matter a register that is free does it; where
 * none is, one is kept below the red zone meanwhile.
 */
void count_code_add(struct machine_code *code, uint32_t at, bool flags, int reg)
{
	/* lea -128(%rsp), %rsp; push %rax */
	static const uint8_t save[] = {0x48, 0x8d, 0x64, 0x24, 0x80, 0x50};
	/* pop %rax; lea 128(%rsp), %rsp */
	static const uint8_t restore[] = {0x58, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};
	uint8_t inc[] = {0x65, 0x48, 0xff, 0x04, 0x25, 0, 0, 0, 0};
	unsigned int used = reg < 0 ? MACHINE_RAX : (unsigned int)reg;

	if (flags) {
		put_u32(inc + 5, at);
		machine_code_bytes(code, inc, sizeof(inc));
		return;
	}
	if (reg < 0)
		machine_code_bytes(code, save, sizeof(save));
	emit_gs_move(code, true, used, at);
	emit_lea_one(code, used);
	emit_gs_move(code, false, used, at);
	if (reg < 0)
		machine_code_bytes(code, restore, sizeof(restore));
}

void count_code_check(struct machine_code *code, const struct count_runtime *runtime,
		      uint32_t otherwise)
{
	uint8_t slot[] = {0x64, 0x81, 0x3c, 0x25, 0, 0, 0, 0, 0, 0, 0, 0}; /* cmpl $, %fs: */
	uint8_t guard[] = {0x81, 0x3d, 0, 0, 0, 0, 0, 0, 0, 0};		   /* cmpl $, (%rip) */

	put_u32(slot + 4, (uint32_t)(int32_t)runtime->slot);
	put_u32(slot + 8, runtime->ready);
	put_u32(guard + 6, runtime->ready);
	machine_code_bytes(code, slot, sizeof(slot));
	machine_code_branch(code, MACHINE_NOT_EQUAL, otherwise);
	machine_code_refer(code, guard, sizeof(guard), 2, COUNT_RUNTIME_GUARD);
	machine_code_branch(code, MACHINE_NOT_EQUAL, otherwise);
}

/* Below the red zone. */
void count_code_enter(struct machine_code *code)
{
	static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
	static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0};

	machine_code_bytes(code, down, sizeof(down));
	machine_code_enter(code, MACHINE_CALL, COUNT_RUNTIME_ENTER);
	machine_code_bytes(code, up, sizeof(up));
}
