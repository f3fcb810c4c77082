// SPDX-License-Identifier: GPL-2.0-only
/* Decoder for Alpha, as defined by the Architecture Handbook. */
#include "tests/eval/truth/sim_insn.h"

#define ZERO 31

static uint8_t reg(uint32_t number)
{
	return number == ZERO ? SIM_REG_NONE : (uint8_t)number;
}

static uint8_t fp(uint32_t number)
{
	return number == ZERO ? SIM_REG_NONE : (uint8_t)(SIM_REG_FP + number);
}

static void writes(struct sim_op *op, uint8_t target)
{
	if (target != SIM_REG_NONE)
		op->targets[op->target_count++] = target;
}

static struct sim_op memory(uint32_t word, enum sim_kind kind, bool floating)
{
	struct sim_op op = sim_op_make(kind, SIM_NEXT);
	uint8_t data = floating ? fp(word >> 21 & 31) : reg(word >> 21 & 31);

	op.sources[1] = reg(word >> 16 & 31);
	if (kind == SIM_STORE || kind == SIM_FP_STORE || kind == SIM_CONDITIONAL_STORE)
		op.sources[0] = data;
	if (kind != SIM_STORE && kind != SIM_FP_STORE)
		writes(&op, data);
	/* Loads to the zero register are prefetches: no instruction waits for them. */
	if ((kind == SIM_LOAD || kind == SIM_FP_LOAD) && data == SIM_REG_NONE)
		op.kind = SIM_PREFETCH;
	return op;
}

static struct sim_op operate(uint32_t word, enum sim_kind kind)
{
	struct sim_op op = sim_op_make(kind, SIM_NEXT);

	op.sources[0] = reg(word >> 21 & 31);
	if ((word >> 12 & 1) == 0)
		op.sources[1] = reg(word >> 16 & 31);
	writes(&op, reg(word & 31));
	if (kind == SIM_CMOV)
		op.sources[2] = reg(word & 31);
	if (op.target_count == 0)
		op.kind = SIM_NOP;
	return op;
}

static struct sim_op fp_operate(uint32_t word, enum sim_kind kind)
{
	struct sim_op op = sim_op_make(kind, SIM_NEXT);

	op.sources[0] = fp(word >> 21 & 31);
	op.sources[1] = fp(word >> 16 & 31);
	writes(&op, fp(word & 31));
	return op;
}

/* cmpbge, cmpult, cmpeq, cmpule, cmplt, cmple */
static bool compares(uint32_t function)
{
	return function == 0x0f || function == 0x1d || function == 0x2d || function == 0x3d ||
	       function == 0x4d || function == 0x6d;
}

static enum sim_kind logical(uint32_t function)
{
	switch (function) {
	case 0x14: /* cmovlbs and so on */
	case 0x16:
	case 0x24:
	case 0x26:
	case 0x44:
	case 0x46:
	case 0x64:
	case 0x66:
		return SIM_CMOV;
	case 0x61: /* amask */
	case 0x6c: /* implver */
		return SIM_ALU;
	default:
		return SIM_LOGIC;
	}
}

static enum sim_kind multiply(uint32_t function)
{
	if (function == 0x30)
		return SIM_MULH;
	return (function & 0x20) != 0 ? SIM_MUL64 : SIM_MUL32;
}

/* Bits 0 to 3 are the operation, bit 5 selects T_floating; the rest are qualifiers. */
static enum sim_kind ieee(uint32_t function)
{
	switch (function & 0x0f) {
	case 0x00:
	case 0x01:
		return SIM_FP_ADD;
	case 0x02:
		return SIM_FP_MUL;
	case 0x03:
		return (function & 0x20) != 0 ? SIM_FP_DIV64 : SIM_FP_DIV32;
	case 0x04:
	case 0x05:
	case 0x06:
	case 0x07:
		return SIM_FP_COMPARE;
	default:
		return SIM_FP_CONVERT;
	}
}

static struct sim_op fp_other(uint32_t word)
{
	uint32_t function = word >> 5 & 0x7ff;
	struct sim_op op;

	if (function == 0x24 || function == 0x25) { /* mt_fpcr, mf_fpcr */
		op = fp_operate(word, SIM_FP_MOVE);
		return op;
	}
	if (function == 0x10 || (function & 0xff) == 0x30)
		return fp_operate(word, SIM_FP_CONVERT);
	op = fp_operate(word, SIM_FP_MOVE);
	if (function >= 0x2a && function <= 0x2f && op.target_count > 0) /* fcmov */
		op.sources[2] = op.targets[0];
	return op;
}

static struct sim_op miscellaneous(uint32_t word)
{
	struct sim_op op;

	switch (word & 0xffff) {
	case 0x0000: /* trapb */
	case 0x0400: /* excb */
		return sim_op_make(SIM_FP_BARRIER, SIM_NEXT);
	case 0x4000: /* mb */
	case 0x4400: /* wmb */
		return sim_op_make(SIM_BARRIER, SIM_NEXT);
	case 0xc000: /* rpcc */
		op = sim_op_make(SIM_SHIFT, SIM_NEXT);
		writes(&op, reg(word >> 21 & 31));
		return op;
	default: /* fetch and other hints */
		op = sim_op_make(SIM_PREFETCH, SIM_NEXT);
		op.sources[1] = reg(word >> 16 & 31);
		return op;
	}
}

static struct sim_op jump(uint32_t word)
{
	static const uint8_t flows[] = {SIM_INDIRECT, SIM_INDIRECT_CALL, SIM_RETURN,
					SIM_INDIRECT_CALL};
	struct sim_op op = sim_op_make(SIM_JUMP, flows[word >> 14 & 3]);

	op.sources[1] = reg(word >> 16 & 31);
	op.hint = (uint16_t)((word & 0x3fff) << 2);
	writes(&op, reg(word >> 21 & 31));
	return op;
}

static struct sim_op branch(uint32_t word)
{
	uint32_t opcode = word >> 26;
	struct sim_op op;

	if (opcode == 0x30 || opcode == 0x34) {
		op = sim_op_make(SIM_JUMP, opcode == 0x34 ? SIM_CALL : SIM_DIRECT);
		writes(&op, reg(word >> 21 & 31));
		return op;
	}
	op = sim_op_make(opcode < 0x38 ? SIM_FP_BRANCH : SIM_BRANCH, SIM_CONDITIONAL);
	op.sources[0] = opcode < 0x38 ? fp(word >> 21 & 31) : reg(word >> 21 & 31);
	return op;
}

/* lda, ldah: the base comes second, as in all memory formats */
static struct sim_op load_address(uint32_t word)
{
	struct sim_op op = sim_op_make(SIM_ALU, SIM_NEXT);

	op.sources[1] = reg(word >> 16 & 31);
	writes(&op, reg(word >> 21 & 31));
	if (op.target_count == 0)
		op.kind = SIM_NOP;
	return op;
}

static struct sim_op arithmetic(uint32_t word)
{
	uint32_t opcode = word >> 26, function = word >> 5 & 0x7f;

	switch (opcode) {
	case 0x10:
		return operate(word, compares(function) ? SIM_LOGIC : SIM_ALU);
	case 0x11:
		return operate(word, logical(function));
	case 0x12:
		return operate(word, SIM_SHIFT);
	case 0x13:
		return operate(word, multiply(function));
	case 0x16:
		return fp_operate(word, ieee(word >> 5 & 0x7ff));
	case 0x17:
		return fp_other(word);
	case 0x18:
		return miscellaneous(word);
	case 0x1a:
		return jump(word);
	case 0x1c:
		return operate(word, SIM_SHIFT);
	default:
		return sim_op_make(SIM_SYSTEM, SIM_TRAP);
	}
}

struct sim_op sim_isa_alpha(uint32_t word)
{
	uint32_t opcode = word >> 26;

	if (opcode >= 0x30)
		return branch(word);
	switch (opcode) {
	case 0x00:
		return sim_op_make(SIM_SYSTEM, SIM_TRAP);
	case 0x08:
	case 0x09:
		return load_address(word);
	case 0x0b:
		if ((word >> 21 & 31) == ZERO)
			return sim_op_make(SIM_UNOP, SIM_NEXT);
		return memory(word, SIM_LOAD, false);
	case 0x0a:
	case 0x0c:
	case 0x28:
	case 0x29:
		return memory(word, SIM_LOAD, false);
	case 0x0d:
	case 0x0e:
	case 0x0f:
	case 0x2c:
	case 0x2d:
		return memory(word, SIM_STORE, false);
	case 0x20:
	case 0x21:
	case 0x22:
	case 0x23:
		return memory(word, SIM_FP_LOAD, true);
	case 0x24:
	case 0x25:
	case 0x26:
	case 0x27:
		return memory(word, SIM_FP_STORE, true);
	case 0x2a:
	case 0x2b:
		return memory(word, SIM_LOCKED_LOAD, false);
	case 0x2e:
	case 0x2f:
		return memory(word, SIM_CONDITIONAL_STORE, false);
	default:
		return arithmetic(word);
	}
}
