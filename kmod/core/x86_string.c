// SPDX-License-Identifier: GPL-2.0-only
/*
 * movs, cmps, stos, lods, scas. One element is interpreted exactly. With a repeat prefix, only the
 * state that does not depend on the data stays known.
 */
#include "x86_string.h"

#include "x86_arithmetic.h"
#include "x86_operand.h"

#define STRING_BYTES_MAX (1U << 20)

/* How far the pointers move. Only upward moves are supported; others are very rare. */
static struct operand distance(struct machine *m, u32 bytes, bool repeats)
{
	struct operand count = repeats ? x86_read_register(m, REG_RCX, 8) : operand(1);

	if (!(m->state->flags_known & FLAG_DF) || m->state->flags & FLAG_DF ||
	    count.value > STRING_BYTES_MAX / 8)
		count.known = false;
	count.value = count.known ? count.value * bytes : 0;
	return count;
}

static void advance(struct machine *m, u32 reg, struct operand by)
{
	struct operand pointer = x86_read_register(m, reg, 8);

	pointer.value += by.value;
	pointer.known = pointer.known && by.known;
	x86_write_register(m, reg, 8, pointer.known ? pointer : unknown());
}

static void store(struct machine *m, struct operand length, struct operand element, bool repeats)
{
	struct operand to = x86_read_register(m, REG_RDI, 8);

	if (!length.known)
		to = unknown();
	x86_store(m, to, (u32)length.value, repeats ? unknown() : element);
}

enum step x86_string(struct machine *m)
{
	u32 kind = m->insn.opcode & ~1U, bytes = m->insn.opcode & 1 ? x86_operand_bytes(m) : 1;
	bool repeats = has_prefix(m, X86_REP | X86_REPNE);
	bool compares = kind == 0xa6 || kind == 0xae;
	struct operand by = distance(m, bytes, repeats), element;

	if (has_prefix(m, X86_ADDRESS_SIZE | X86_FS | X86_GS))
		return STEP_UNSUPPORTED;
	if (repeats && by.known && by.value == 0)
		return STEP_NEXT;
	element = x86_read_register(m, REG_RAX, bytes);
	if (kind == 0xa4 || kind == 0xac)
		element =
			repeats ? unknown() : x86_load(m, x86_read_register(m, REG_RSI, 8), bytes);
	if (kind == 0xa4 || kind == 0xaa)
		store(m, by, element, repeats);
	if (kind == 0xac)
		x86_write_register(m, REG_RAX, bytes, element);
	if (compares) {
		x86_forget_flags(m, FLAGS_ALL);
		if (repeats)
			by = unknown();
	}
	if (kind != 0xaa && kind != 0xae)
		advance(m, REG_RSI, by);
	if (kind != 0xac)
		advance(m, REG_RDI, by);
	if (repeats)
		x86_write_register(m, REG_RCX, 8, compares ? unknown() : operand(0));
	return STEP_NEXT;
}
