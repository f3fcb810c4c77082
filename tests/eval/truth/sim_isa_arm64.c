// SPDX-License-Identifier: GPL-2.0-only
/* Decoder for A64, as defined by the Architecture Reference Manual's encoding index (C4.1). */
#include "tests/eval/truth/sim_insn.h"

#define ZERO 31

static uint32_t bits(uint32_t word, unsigned int high, unsigned int low)
{
	return word >> low & ((2U << (high - low)) - 1);
}

static uint8_t reg(uint32_t number)
{
	return number == ZERO ? SIM_REG_NONE : (uint8_t)number;
}

/* For operands where 31 is the stack pointer */
static uint8_t base(uint32_t number)
{
	return (uint8_t)number;
}

static uint8_t fp(uint32_t number)
{
	return (uint8_t)(SIM_REG_FP + number);
}

static void writes(struct sim_op *op, uint8_t target)
{
	if (target != SIM_REG_NONE)
		op->targets[op->target_count++] = target;
}

static struct sim_op immediate(uint32_t word)
{
	struct sim_op op = sim_op_make(SIM_ALU, SIM_NEXT);
	uint32_t group = bits(word, 25, 23);

	if (group <= 1) { /* adr, adrp */
		writes(&op, reg(bits(word, 4, 0)));
		return op;
	}
	op.sources[0] = base(bits(word, 9, 5));
	switch (group) {
	case 2: /* add, sub */
	case 3:
		writes(&op, bits(word, 29, 29) ? reg(bits(word, 4, 0)) : base(bits(word, 4, 0)));
		if (bits(word, 29, 29))
			writes(&op, SIM_REG_FLAGS);
		return op;
	case 4: /* logic */
		op.sources[0] = reg(bits(word, 9, 5));
		writes(&op,
		       bits(word, 30, 29) == 3 ? reg(bits(word, 4, 0)) : base(bits(word, 4, 0)));
		if (bits(word, 30, 29) == 3)
			writes(&op, SIM_REG_FLAGS);
		return op;
	case 5: /* movz, movn, movk */
		op.sources[0] = bits(word, 30, 29) == 3 ? reg(bits(word, 4, 0)) : SIM_REG_NONE;
		writes(&op, reg(bits(word, 4, 0)));
		return op;
	case 6: /* bit fields */
		op.kind = SIM_SHIFT;
		op.sources[0] = reg(bits(word, 9, 5));
		if (bits(word, 30, 29) == 1)
			op.sources[2] = reg(bits(word, 4, 0));
		break;
	default: /* extr */
		op.kind = SIM_SHIFT;
		op.sources[0] = reg(bits(word, 9, 5));
		op.sources[1] = reg(bits(word, 20, 16));
	}
	writes(&op, reg(bits(word, 4, 0)));
	return op;
}

static struct sim_op system_op(uint32_t word)
{
	struct sim_op op;

	if ((word & 0xfffff01f) == 0xd503201f) /* nop and hints */
		return sim_op_make(SIM_NOP, SIM_NEXT);
	if ((word & 0xfffff000) == 0xd5033000) /* barriers, clrex */
		return sim_op_make(SIM_BARRIER, SIM_NEXT);
	if ((word & 0xfff00000) == 0xd5300000) { /* mrs */
		op = sim_op_make(SIM_SHIFT, SIM_NEXT);
		writes(&op, reg(bits(word, 4, 0)));
		return op;
	}
	if ((word & 0xffffffe0) == 0xd50b7420) { /* dc zva: stores a block */
		op = sim_op_make(SIM_STORE, SIM_NEXT);
		op.sources[1] = reg(bits(word, 4, 0));
		return op;
	}
	return sim_op_make(SIM_NOP, SIM_NEXT);
}

static struct sim_op branch(uint32_t word)
{
	static const uint8_t flows[] = {SIM_INDIRECT, SIM_INDIRECT_CALL, SIM_RETURN, SIM_RETURN};
	struct sim_op op;

	if ((word & 0x7c000000) == 0x14000000) { /* b, bl */
		op = sim_op_make(SIM_JUMP, word >> 31 ? SIM_CALL : SIM_DIRECT);
		if (word >> 31)
			writes(&op, 30);
		return op;
	}
	if ((word & 0xfe000000) == 0x54000000) { /* b.cond */
		op = sim_op_make(SIM_BRANCH, SIM_CONDITIONAL);
		op.sources[0] = SIM_REG_FLAGS;
		return op;
	}
	if ((word & 0x7c000000) == 0x34000000) { /* cbz, cbnz, tbz, tbnz */
		op = sim_op_make(SIM_BRANCH, SIM_CONDITIONAL);
		op.sources[0] = reg(bits(word, 4, 0));
		return op;
	}
	if ((word & 0xfe000000) == 0xd6000000) {
		op = sim_op_make(SIM_JUMP, flows[bits(word, 22, 21)]);
		op.sources[1] = reg(bits(word, 9, 5));
		if (op.flow == SIM_INDIRECT_CALL)
			writes(&op, 30);
		return op;
	}
	if ((word & 0xff000000) == 0xd4000000)
		return sim_op_make(SIM_SYSTEM, SIM_TRAP);
	return system_op(word);
}

/* Add the registers loaded or stored: one, or two of a pair */
static void data(struct sim_op *op, bool load, uint8_t first, uint8_t second)
{
	if (load) {
		writes(op, first);
		writes(op, second);
	} else {
		op->sources[0] = first;
		op->sources[3] = second;
		op->needs[0] = op->needs[3] = SIM_NEED_DATA;
	}
}

static struct sim_op exclusive(uint32_t word)
{
	bool load = bits(word, 22, 22), ordered = bits(word, 23, 23);
	struct sim_op op = sim_op_make(load ? SIM_LOCKED_LOAD : SIM_CONDITIONAL_STORE, SIM_NEXT);

	op.sources[1] = base(bits(word, 9, 5));
	data(&op, load, reg(bits(word, 4, 0)),
	     bits(word, 21, 21) ? reg(bits(word, 14, 10)) : SIM_REG_NONE);
	if (ordered) /* ldar, stlr: no result except the data */
		op.kind = load ? SIM_LOAD : SIM_STORE;
	else if (!load)
		writes(&op, reg(bits(word, 20, 16)));
	return op;
}

static struct sim_op access_op(bool load, bool floating)
{
	if (floating)
		return sim_op_make(load ? SIM_FP_LOAD : SIM_FP_STORE, SIM_NEXT);
	return sim_op_make(load ? SIM_LOAD : SIM_STORE, SIM_NEXT);
}

static struct sim_op pair(uint32_t word)
{
	bool floating = bits(word, 26, 26), load = bits(word, 22, 22);
	struct sim_op op = access_op(load, floating);
	uint32_t size = bits(word, 31, 30);
	uint32_t one = bits(word, 4, 0), two = bits(word, 14, 10);

	op.sources[1] = base(bits(word, 9, 5));
	op.wide = size >= (floating ? 1U : 2U); /* more than 64 bits */
	data(&op, load, floating ? fp(one) : reg(one), floating ? fp(two) : reg(two));
	if (bits(word, 23, 23)) /* pre- and post-indexed */
		writes(&op, base(bits(word, 9, 5)));
	return op;
}

static struct sim_op literal(uint32_t word)
{
	bool floating = bits(word, 26, 26);
	struct sim_op op = access_op(true, floating);

	if (!floating && bits(word, 31, 30) == 3)
		return sim_op_make(SIM_PREFETCH, SIM_NEXT);
	writes(&op, floating ? fp(bits(word, 4, 0)) : reg(bits(word, 4, 0)));
	return op;
}

static struct sim_op single(uint32_t word)
{
	bool floating = bits(word, 26, 26), scaled = bits(word, 24, 24);
	uint32_t size = bits(word, 31, 30), opc = bits(word, 23, 22);
	bool load = floating ? opc & 1 : opc != 0;
	struct sim_op op = access_op(load, floating);

	op.wide = floating && size == 0 && opc >= 2;

	op.sources[1] = base(bits(word, 9, 5));
	if (!floating && size == 3 && opc == 2) {
		op.kind = SIM_PREFETCH;
		return op;
	}
	data(&op, load, floating ? fp(bits(word, 4, 0)) : reg(bits(word, 4, 0)), SIM_REG_NONE);
	if (scaled)
		return op;
	if (bits(word, 21, 21)) {
		if (bits(word, 11, 10) == 2) { /* register offset */
			op.sources[2] = reg(bits(word, 20, 16));
		} else { /* atomics */
			op.kind = SIM_LOCKED_LOAD;
			op.sources[2] = reg(bits(word, 20, 16));
		}
	} else if (bits(word, 10, 10)) { /* pre- and post-indexed */
		writes(&op, base(bits(word, 9, 5)));
	}
	return op;
}

/* ld1 .. st4: the first register represents all */
static struct sim_op structures(uint32_t word)
{
	struct sim_op op = access_op(bits(word, 22, 22), true);

	op.sources[1] = base(bits(word, 9, 5));
	data(&op, bits(word, 22, 22), fp(bits(word, 4, 0)), SIM_REG_NONE);
	if (bits(word, 23, 23))
		writes(&op, base(bits(word, 9, 5)));
	return op;
}

static struct sim_op memory(uint32_t word)
{
	switch (bits(word, 29, 28)) {
	case 0:
		return bits(word, 26, 26) ? structures(word) : exclusive(word);
	case 1:
		return literal(word);
	case 2:
		return pair(word);
	default:
		return single(word);
	}
}

static struct sim_op two_sources(uint32_t word)
{
	uint32_t opcode = bits(word, 15, 10);
	struct sim_op op = sim_op_make(SIM_SHIFT, SIM_NEXT);

	if (bits(word, 30, 30) == 0 && (opcode == 2 || opcode == 3)) {
		op.kind = word >> 31 ? SIM_DIV64 : SIM_DIV32;
		op.needs[0] = op.needs[1] = SIM_NEED_SHIFT;
	}
	op.sources[0] = reg(bits(word, 9, 5));
	if (bits(word, 30, 30) == 0)
		op.sources[1] = reg(bits(word, 20, 16));
	writes(&op, reg(bits(word, 4, 0)));
	return op;
}

static struct sim_op three_sources(uint32_t word)
{
	static const uint8_t multiplies[] = {SIM_MUL64, SIM_MUL32, SIM_MULH, SIM_MUL64,
					     SIM_MUL64, SIM_MUL32, SIM_MULH, SIM_MUL64};
	struct sim_op op = sim_op_make(multiplies[bits(word, 23, 21)], SIM_NEXT);

	if (word >> 31 == 0)
		op.kind = SIM_MUL32;
	op.needs[0] = op.needs[1] = SIM_NEED_SHIFT; /* the addend is needed later */
	op.sources[0] = reg(bits(word, 9, 5));
	op.sources[1] = reg(bits(word, 20, 16));
	op.sources[2] = reg(bits(word, 14, 10));
	writes(&op, reg(bits(word, 4, 0)));
	return op;
}

static struct sim_op conditional(uint32_t word)
{
	struct sim_op op = sim_op_make(SIM_CMOV, SIM_NEXT);

	op.sources[0] = reg(bits(word, 9, 5));
	op.sources[2] = SIM_REG_FLAGS;
	if (bits(word, 23, 21) == 2) { /* ccmp, ccmn */
		op.kind = SIM_ALU;
		if (bits(word, 11, 11) == 0)
			op.sources[1] = reg(bits(word, 20, 16));
		writes(&op, SIM_REG_FLAGS);
		return op;
	}
	op.sources[1] = reg(bits(word, 20, 16));
	if (bits(word, 23, 21) == 0) { /* adc, sbc */
		op.kind = SIM_ALU;
		if (bits(word, 29, 29))
			writes(&op, SIM_REG_FLAGS);
	}
	writes(&op, reg(bits(word, 4, 0)));
	return op;
}

static struct sim_op registers(uint32_t word)
{
	struct sim_op op = sim_op_make(SIM_ALU, SIM_NEXT);
	bool extended, logic;

	if (bits(word, 28, 28)) {
		if (bits(word, 24, 24))
			return three_sources(word);
		return bits(word, 23, 21) == 6 ? two_sources(word) : conditional(word);
	}
	logic = !bits(word, 24, 24);
	extended = !logic && bits(word, 21, 21);
	op.sources[0] = extended ? base(bits(word, 9, 5)) : reg(bits(word, 9, 5));
	op.sources[1] = reg(bits(word, 20, 16));
	/* lsl #0 is no shift. */
	if (extended ? bits(word, 15, 10) != 0x18 : bits(word, 15, 10) != 0)
		op.needs[1] = SIM_NEED_SHIFT;
	if (logic ? bits(word, 30, 29) == 3 : bits(word, 29, 29))
		writes(&op, SIM_REG_FLAGS);
	writes(&op,
	       extended && !bits(word, 29, 29) ? base(bits(word, 4, 0)) : reg(bits(word, 4, 0)));
	return op;
}

static struct sim_op fp_sources(uint32_t word, enum sim_kind kind, int count)
{
	struct sim_op op = sim_op_make(kind, SIM_NEXT);

	op.sources[0] = fp(bits(word, 9, 5));
	if (count > 1)
		op.sources[1] = fp(bits(word, 20, 16));
	if (count > 2)
		op.sources[2] = fp(bits(word, 14, 10));
	writes(&op, fp(bits(word, 4, 0)));
	return op;
}

/* Between FP and integer registers; fmov, scvtf, fcvtzs and so on */
static struct sim_op fp_integer(uint32_t word)
{
	uint32_t opcode = bits(word, 18, 16);
	struct sim_op op = sim_op_make(SIM_TRANSFER, SIM_NEXT);
	bool into_fp = opcode == 2 || opcode == 3 || opcode == 7;

	op.sources[0] = into_fp ? reg(bits(word, 9, 5)) : fp(bits(word, 9, 5));
	writes(&op, into_fp ? fp(bits(word, 4, 0)) : reg(bits(word, 4, 0)));
	return op;
}

static struct sim_op fp_two(uint32_t word)
{
	uint32_t opcode = bits(word, 15, 12);

	if (opcode == 1)
		return fp_sources(word, bits(word, 23, 22) ? SIM_FP_DIV64 : SIM_FP_DIV32, 2);
	return fp_sources(word, opcode == 0 || opcode == 8 ? SIM_FP_MUL : SIM_FP_ADD, 2);
}

static struct sim_op fp_one(uint32_t word)
{
	uint32_t opcode = bits(word, 20, 15);

	if (opcode == 3) /* fsqrt */
		return fp_sources(word, bits(word, 23, 22) ? SIM_FP_DIV64 : SIM_FP_DIV32, 1);
	return fp_sources(word, opcode < 3 ? SIM_FP_MOVE : SIM_FP_CONVERT, 1);
}

/* bits 28..24 are 1111x, 31 and 29 clear */
static struct sim_op fp_scalar(uint32_t word)
{
	struct sim_op op;

	if (bits(word, 24, 24))
		return fp_sources(word, SIM_FP_FMA, 3);
	if (!bits(word, 21, 21)) { /* fixed point */
		return fp_integer(word);
	}
	switch (bits(word, 11, 10)) {
	case 1: /* fccmp */
	case 3: /* fcsel */
		op = fp_sources(word, SIM_FP_MOVE, 2);
		op.sources[2] = SIM_REG_FLAGS;
		if (bits(word, 11, 10) == 1) {
			op.kind = SIM_FP_COMPARE;
			op.targets[0] = SIM_REG_FLAGS;
		}
		return op;
	case 2:
		return fp_two(word);
	default:
		break;
	}
	if (bits(word, 12, 12)) { /* fmov immediate */
		op = sim_op_make(SIM_FP_MOVE, SIM_NEXT);
		writes(&op, fp(bits(word, 4, 0)));
		return op;
	}
	if (bits(word, 13, 13)) { /* fcmp */
		op = fp_sources(word, SIM_FP_COMPARE, bits(word, 3, 3) ? 1 : 2);
		op.targets[0] = SIM_REG_FLAGS;
		return op;
	}
	return bits(word, 14, 14) ? fp_one(word) : fp_integer(word);
}

/*
 * Advanced SIMD: three registers of the same size; determines which multiply and which accumulate
 */
static struct sim_op vector_three(uint32_t word)
{
	uint32_t opcode = bits(word, 15, 11);
	struct sim_op op;

	if (opcode == 0x1f && bits(word, 29, 29) && !bits(word, 23, 23)) /* fdiv */
		return fp_sources(word, bits(word, 22, 22) ? SIM_FP_DIV64 : SIM_FP_DIV32, 2);
	if (opcode == 0x12 || opcode == 0x13 || opcode == 0x1b || opcode == 0x16)
		op = fp_sources(word, SIM_FP_MUL, 2);
	else if (opcode == 0x19)
		op = fp_sources(word, SIM_FP_FMA, 2);
	else if (opcode >= 0x18)
		op = fp_sources(word, SIM_FP_ADD, 2);
	else
		op = fp_sources(word, opcode == 3 ? SIM_FP_MOVE : SIM_FP_ADD, 2);
	/* mla, fmla, bsl: the target is a source too */
	if (opcode == 0x12 || opcode == 0x19 || (opcode == 3 && bits(word, 29, 29)))
		op.sources[2] = fp(bits(word, 4, 0));
	return op;
}

static struct sim_op vector_copy(uint32_t word)
{
	uint32_t opcode = bits(word, 14, 11);
	struct sim_op op;

	if (!bits(word, 29, 29) && (opcode == 1 || opcode == 3)) { /* dup, ins from integer */
		op = sim_op_make(SIM_TRANSFER, SIM_NEXT);
		op.sources[0] = reg(bits(word, 9, 5));
		if (opcode == 3)
			op.sources[2] = fp(bits(word, 4, 0));
		writes(&op, fp(bits(word, 4, 0)));
		return op;
	}
	if (!bits(word, 29, 29) && (opcode == 5 || opcode == 7)) { /* smov, umov */
		op = sim_op_make(SIM_TRANSFER, SIM_NEXT);
		op.sources[0] = fp(bits(word, 9, 5));
		writes(&op, reg(bits(word, 4, 0)));
		return op;
	}
	return fp_sources(word, SIM_FP_MOVE, 1);
}

static struct sim_op vector(uint32_t word)
{
	if ((word & 0x9f200400) == 0x0e200400 || (word & 0xdf200400) == 0x5e200400)
		return vector_three(word);
	if ((word & 0x9fe08400) == 0x0e000400)
		return vector_copy(word);
	if ((word & 0x9ff80400) == 0x0f000400) { /* movi */
		struct sim_op op = sim_op_make(SIM_FP_MOVE, SIM_NEXT);

		writes(&op, fp(bits(word, 4, 0)));
		return op;
	}
	if ((word & 0x9f000400) == 0x0f000400) /* shifts by immediates */
		return fp_sources(word, SIM_FP_MOVE, 1);
	if ((word & 0x9f3e0c00) == 0x0e200800) /* two registers */
		return fp_sources(word, SIM_FP_ADD, 1);
	return fp_sources(word, SIM_FP_ADD, 2); /* narrowing, permuting and the rest */
}

static struct sim_op decode(uint32_t word)
{
	switch (bits(word, 28, 25)) {
	case 8:
	case 9:
		return immediate(word);
	case 10:
	case 11:
		return branch(word);
	case 4:
	case 6:
	case 12:
	case 14:
		return memory(word);
	case 5:
	case 13:
		return registers(word);
	case 7:
	case 15:
		return (word & 0x5e000000) == 0x1e000000 ? fp_scalar(word) : vector(word);
	default:
		return sim_op_make(SIM_ALU, SIM_NEXT);
	}
}

static bool accesses(const struct sim_op *op)
{
	return (op->kind >= SIM_LOAD && op->kind <= SIM_CONDITIONAL_STORE);
}

/*
 * An instruction that sets flags may issue together with the branch that reads them. Addresses come
 * from the second source, and the third.
 */
struct sim_op sim_isa_arm64(uint32_t word)
{
	struct sim_op op = decode(word);
	int i;

	for (i = 0; i < op.target_count; i++) {
		if (op.kind == SIM_ALU && op.targets[i] == SIM_REG_FLAGS)
			op.kind = SIM_LOGIC;
	}
	if (accesses(&op))
		op.needs[1] = op.needs[2] = SIM_NEED_ADDRESS;
	return op;
}
