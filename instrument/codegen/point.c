// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/codegen/point.h"

#include "instrument/codegen/liveness.h"

#define RED_ZONE_BYTES 128
#define BIT(reg) (1U << (reg))
/* Never used as scratch registers: the stack pointer and the usual frame pointer. */
#define UNWANTED (BIT(MACHINE_RSP) | BIT(MACHINE_RBP))
/* Callee-saved registers: unwinders expect the callers' values in them. */
#define CALLERS (BIT(MACHINE_RBX) | 0xf000U)

static void emit_push(struct machine_code *code, struct scratch_regs *scratch, unsigned int reg)
{
	uint8_t bytes[] = {0x41, (uint8_t)(0x50 | (reg & 7))};

	machine_code_bytes(code, bytes + (reg < 8), sizeof(bytes) - (reg < 8));
	machine_code_stack(code, 8);
	scratch->depth += 8;
}

static void emit_pop(struct machine_code *code, unsigned int reg)
{
	uint8_t bytes[] = {0x41, (uint8_t)(0x58 | (reg & 7))};

	machine_code_bytes(code, bytes + (reg < 8), sizeof(bytes) - (reg < 8));
	machine_code_stack(code, -8);
}

/* Save a register on the stack. The first one moves the stack pointer below the red zone. */
static void point_keep(struct machine_code *code, const struct point *point,
		       struct scratch_regs *scratch, unsigned int reg)
{
	static const uint8_t down[] = {0x48, 0x8d, 0x64, 0x24, 0x80}; /* lea -128(%rsp), %rsp */

	if (point->red_zone && !scratch->lowered) {
		machine_code_bytes(code, down, sizeof(down));
		machine_code_stack(code, RED_ZONE_BYTES);
		scratch->lowered = true;
		scratch->depth += RED_ZONE_BYTES;
	}
	emit_push(code, scratch, reg);
	scratch->pushed |= BIT(reg);
}

static void keep_flags(struct machine_code *code, struct scratch_regs *scratch, bool named_rax)
{
	static const uint8_t save[] = {0x9f, 0x0f, 0x90, 0xc0}; /* lahf; seto %al */

	machine_code_bytes(code, save, sizeof(save));
	scratch->flags = true;
	scratch->flags_pushed = named_rax;
	if (named_rax)
		emit_push(code, scratch, MACHINE_RAX);
}

/* Choose a register, preferably a free one. Return: its number. */
static unsigned int point_choose(const struct point *point, uint32_t taken)
{
	uint32_t possible = 0xffffU & ~UNWANTED & ~point->excluded & ~taken;

	if (possible & point->free)
		possible &= point->free;
	else if (possible & ~CALLERS)
		possible &= ~CALLERS;
	return (unsigned int)__builtin_ctz(possible);
}

unsigned int point_free(const struct point *point, uint32_t named)
{
	return (unsigned int)__builtin_popcount(point->free & ~UNWANTED & ~named);
}

void scratch_acquire(struct machine_code *code, const struct point *point, uint32_t named,
		     unsigned int count, bool flags, struct scratch_regs *ret)
{
	bool keeps_flags = flags && (point->live & LIVENESS_FLAGS) != 0;
	uint32_t taken = named | (keeps_flags ? BIT(MACHINE_RAX) : 0);

	*ret = (struct scratch_regs){.count = count};
	for (unsigned int i = 0; i < count; i++) {
		ret->registers[i] = (uint8_t)point_choose(point, taken);
		taken |= BIT(ret->registers[i]);
	}
	for (unsigned int reg = 0; reg < 16; reg++) {
		if (taken & BIT(reg) & ~point->free)
			point_keep(code, point, ret, reg);
	}
	if (keeps_flags && named & BIT(MACHINE_RAX) && point->red_zone && !ret->lowered)
		point_keep(code, point, ret, MACHINE_RAX); /* skips the red zone */
	if (keeps_flags)
		keep_flags(code, ret, (named & BIT(MACHINE_RAX)) != 0);
}

void scratch_release(struct machine_code *code, const struct scratch_regs *scratch)
{
	static const uint8_t restore[] = {0x04, 0x7f, 0x9e}; /* add $127, %al; sahf */
	/* lea 128(%rsp), %rsp */
	static const uint8_t up[] = {0x48, 0x8d, 0xa4, 0x24, RED_ZONE_BYTES, 0, 0, 0};

	if (scratch->flags_pushed)
		emit_pop(code, MACHINE_RAX);
	if (scratch->flags)
		machine_code_bytes(code, restore, sizeof(restore));
	for (unsigned int reg = 16; reg-- > 0;) {
		if (scratch->pushed & BIT(reg))
			emit_pop(code, reg);
	}
	if (!scratch->lowered)
		return;
	machine_code_bytes(code, up, sizeof(up));
	machine_code_stack(code, -RED_ZONE_BYTES);
}
