// SPDX-License-Identifier: GPL-2.0-only
/*
 * FP and vectors. The patterns are in a64_vector_tables.c and a64_scalar_tables.c, by the groups of
 * the manual. Each group has a mask over the word, and its rows specify the operation; so a word is
 * searched in one short list only.
 */
#include "analysis/insn/a64_vector.h"

#include "analysis/insn/a64_scalar_tables.h"
#include "analysis/insn/a64_vector_tables.h"

static void scalar_width_set(struct insn *insn, uint32_t word)
{
	static const uint8_t bytes[] = {4, 8, 8, 2};

	insn->operand_bytes = bytes[a64_bits(word, 22, 2)];
}

static bool conversion_is_defined(uint32_t word)
{
	bool wide = word >> 31 != 0;
	unsigned int type = a64_bits(word, 22, 2), mode = a64_bits(word, 19, 2),
		     opcode = a64_bits(word, 16, 3);

	switch (opcode) {
	case 0: /* fcvtns .. fcvtzu */
	case 1:
		return type != 2;
	case 2: /* scvtf, ucvtf */
	case 3:
	case 4: /* fcvtas, fcvtau */
	case 5:
		return type != 2 && mode == 0;
	default: /* fmov; the upper half of 128 bits; fjcvtzs */
		if (mode == 0)
			return type == 3 || (type == 0 && !wide) || (type == 1 && wide);
		return (mode == 1 && type == 2 && wide) ||
		       (mode == 3 && opcode == 6 && type == 1 && !wide);
	}
}

/* Decode conversions and moves between FP and integer registers: fcvt*, scvtf, fmov. */
static bool conversion_decode(struct insn *insn, uint32_t word)
{
	unsigned int opcode = a64_bits(word, 16, 3), d = a64_bits(word, 0, 5),
		     n = a64_bits(word, 5, 5);
	bool to_fp = opcode == 2 || opcode == 3 || opcode == 7;
	bool javascript = opcode == 6 && a64_bits(word, 19, 2) == 3;

	if (!conversion_is_defined(word))
		return false;
	insn->class = opcode >= 6 && !javascript ? INSN_FP_TRANSFER : INSN_FP_CONVERT;
	insn->flags |= INSN_FP;
	scalar_width_set(insn, word);
	if (to_fp) {
		a64_read(insn, n);
		a64_source(insn, n);
		insn_regs_add(&insn->writes, INSN_REG_FP + d);
		insn->destination = (uint8_t)(INSN_REG_FP + d);
		if (a64_bits(word, 22, 2) == 2)
			insn_regs_add(&insn->reads, INSN_REG_FP + d);
	} else {
		insn_regs_add(&insn->reads, INSN_REG_FP + n);
		a64_source(insn, INSN_REG_FP + n);
		a64_write(insn, d);
		insn->destination = d == 31 ? INSN_REG_NONE : (uint8_t)d;
	}
	if (javascript)
		insn_regs_add(&insn->writes, INSN_REG_FLAGS);
	return true;
}

/* Decode the same with fixed-point numbers. */
static bool fixed_decode(struct insn *insn, uint32_t word)
{
	unsigned int mode = a64_bits(word, 19, 2), opcode = a64_bits(word, 16, 3);

	if (word >> 31 == 0 && a64_bits(word, 15, 1) == 0)
		return false;
	if (!(mode == 0 && (opcode == 2 || opcode == 3)) && !(mode == 3 && opcode < 2))
		return false;
	return conversion_decode(insn, word);
}

/* Decode fcvt between different FP types. */
static bool precision_decode(struct insn *insn, uint32_t word)
{
	static const struct a64_pattern pattern = {0,	    0, A64_VN | A64_WV, INSN_FP_CONVERT,
						   A64_ANY, 0};
	unsigned int from = a64_bits(word, 22, 2), to = a64_bits(word, 15, 2);

	if (to == 2) { /* bfcvt */
		if (from != 1)
			return false;
	} else if (from == 2 || from == to) {
		return false;
	}
	a64_apply(insn, &pattern, word);
	scalar_width_set(insn, word);
	return true;
}

static bool scalar_fp_decode(struct insn *insn, uint32_t word)
{
	const struct a64_pattern *pattern;

	if ((word & 0x7f200000) == 0x1e000000)
		return fixed_decode(insn, word);
	if ((word & 0x7f20fc00) == 0x1e200000)
		return conversion_decode(insn, word);
	if ((word & 0xff3e7c00) == 0x1e224000)
		return precision_decode(insn, word);
	pattern = a64_scalar_fp_match(word);
	if (pattern == NULL)
		return false;
	a64_apply(insn, pattern, word);
	scalar_width_set(insn, word);
	return true;
}

/* dup, ins, smov, umov: the lowest bit set in imm5 is the element's size. */
static bool copy_is_defined(uint32_t word)
{
	unsigned int imm5 = a64_bits(word, 16, 5), kind = a64_bits(word, 11, 4);
	bool q = a64_bits(word, 30, 1) != 0;

	if ((imm5 & 15) == 0)
		return false;
	if (a64_bits(word, 29, 1) != 0 || a64_bits(word, 28, 1) != 0)
		return true; /* ins from an element; scalar dup */
	switch (kind) {
	case 0: /* dup: no vector of one element */
	case 1:
		return (imm5 & 7) != 0 || q;
	case 5: /* smov: widens */
		return (imm5 & 3) != 0 || (q && (imm5 & 7) != 0);
	case 7: /* umov: width of the register */
		return q ? (imm5 & 15) == 8 : (imm5 & 7) != 0;
	default:
		return true;
	}
}

static bool immediate_is_defined(uint32_t word)
{
	unsigned int cmode = a64_bits(word, 12, 4);
	bool q = a64_bits(word, 30, 1) != 0, op = a64_bits(word, 29, 1) != 0;

	if (a64_bits(word, 11, 1) != 0) /* fmov of half precision */
		return cmode == 15 && !op;
	return cmode != 15 || !op || q;
}

/* movi, mvni, fmov; orr and bic with an immediate modify the destination. */
static bool immediate_decode(struct insn *insn, uint32_t word)
{
	static const struct a64_pattern move = {0, 0, A64_WV, INSN_VECTOR_ALU, A64_ANY, 0};
	static const struct a64_pattern change = {0,	   0, A64_VD | A64_WV, INSN_VECTOR_ALU,
						  A64_ANY, 0};
	unsigned int cmode = a64_bits(word, 12, 4);
	bool changes = (cmode & 1) != 0 && cmode < 12;

	if (!immediate_is_defined(word))
		return false;
	a64_apply(insn, changes ? &change : &move, word);
	return true;
}

/* tbl, tbx: up to four registers are the table. */
static void table_registers(struct insn *insn, uint32_t word)
{
	unsigned int n = a64_bits(word, 5, 5), i;

	for (i = 1; i <= a64_bits(word, 13, 2); i++)
		insn_regs_add(&insn->reads, INSN_REG_FP + (n + i) % 32);
}

static bool is_defined(uint32_t word)
{
	if ((word & 0x9fe08400) == 0x0e000400 || (word & 0xffe0fc00) == 0x5e000400)
		return copy_is_defined(word);
	if ((word & 0xbfe08400) == 0x2e000000) /* ext */
		return word >> 30 != 0 || a64_bits(word, 14, 1) == 0;
	return true;
}

bool a64_vector_decode(struct insn *insn, uint32_t word)
{
	const struct a64_pattern *pattern;

	if (a64_bits(word, 28, 1) != 0 && a64_bits(word, 30, 1) == 0)
		return scalar_fp_decode(insn, word);
	insn->operand_bytes = a64_bits(word, 30, 1) != 0 && a64_bits(word, 28, 1) == 0 ? 16 : 8;
	if ((word & 0x9ff80400) == 0x0f000400)
		return immediate_decode(insn, word);
	/* Later extensions also set bit 31. */
	pattern = word >> 31 == 0 && a64_bits(word, 28, 1) != 0 ? a64_scalar_match(word)
								: a64_vector_match(word);
	if (pattern == NULL || !is_defined(word))
		return false;
	a64_apply(insn, pattern, word);
	if ((word & 0xbfe08c00) == 0x0e000000)
		table_registers(insn, word);
	return true;
}
