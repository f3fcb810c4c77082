// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/a64.h"

void a64_source(struct insn *insn, unsigned int reg)
{
	unsigned int i;

	for (i = 0; reg != 31 && i < INSN_SOURCES; i++) {
		if (insn->sources[i] == INSN_REG_NONE) {
			insn->sources[i] = (uint8_t)reg;
			return;
		}
	}
}

bool a64_logical_immediate(uint64_t *value, uint32_t word, bool wide)
{
	uint32_t n = a64_bits(word, 22, 1), rotate = a64_bits(word, 16, 6),
		 ones = a64_bits(word, 10, 6);
	uint32_t pattern = n << 6 | (~ones & 0x3f);
	unsigned int bits, i;
	uint64_t element;

	if (pattern < 2 || (n != 0 && !wide))
		return false;
	bits = 1U << (31 - __builtin_clz(pattern));
	ones &= bits - 1;
	rotate &= bits - 1;
	if (ones == bits - 1)
		return false;
	element = (UINT64_C(2) << ones) - 1;
	if (rotate != 0)
		element = element >> rotate | element << (bits - rotate);
	if (bits < 64)
		element &= (UINT64_C(1) << bits) - 1;
	*value = 0;
	for (i = 0; i < (wide ? 64U : 32U); i += bits)
		*value |= element << i;
	return true;
}

/* The element size of a vector shift is given by the highest bit set in immh (bits 19-22). */
static bool vector_shift_is_defined(enum a64_check check, uint32_t word)
{
	uint32_t immh = a64_bits(word, 19, 4);
	bool q = a64_bits(word, 30, 1) != 0;

	switch (check) {
	case A64_SHIFT_ALL:
		return immh != 0 && (immh < 8 || q);
	case A64_SHIFT_HALF:
		return immh != 0 && immh < 8;
	case A64_SHIFT_FP:
		return immh > 1 && (immh < 8 || q);
	case A64_SHIFT_64:
		return immh >= 8;
	default:
		return immh != 0;
	}
}

static bool is_defined(const struct a64_pattern *pattern, uint32_t word)
{
	bool wide = word >> 31 != 0;
	uint64_t value;

	switch (pattern->check) {
	case A64_ANY:
		return true;
	case A64_NO_ROR:
		return a64_bits(word, 22, 2) != 3 && (wide || a64_bits(word, 15, 1) == 0);
	case A64_SHIFT:
		return wide || a64_bits(word, 15, 1) == 0;
	case A64_EXTEND:
		return a64_bits(word, 10, 3) <= 4;
	case A64_BITMASK:
		return a64_logical_immediate(&value, word, wide);
	case A64_WIDE:
		return wide || a64_bits(word, 22, 1) == 0;
	case A64_BITFIELD:
		return a64_bits(word, 22, 1) == (wide ? 1U : 0U) &&
		       (wide || (word & 0x208000U) == 0);
	case A64_CRC:
		return a64_bits(word, 10, 2) == 3 ? wide : !wide;
	case A64_SIZES:
		return pattern->sizes >> (2 * a64_bits(word, 22, 2) + a64_bits(word, 30, 1)) & 1;
	case A64_FP_TYPE:
		return a64_bits(word, 22, 2) != 2;
	default:
		return vector_shift_is_defined(pattern->check, word);
	}
}

const struct a64_pattern *a64_match(const struct a64_pattern *patterns, size_t count, uint32_t word)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if ((word & patterns[i].mask) == patterns[i].value)
			return is_defined(&patterns[i], word) ? &patterns[i] : NULL;
	}
	return NULL;
}

const struct a64_pattern *a64_group_match(const struct a64_group *search, size_t count,
					  uint32_t word)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if ((word & search[i].mask) == search[i].value)
			return a64_match(search[i].patterns, search[i].count, word);
	}
	return NULL;
}

static void integer_apply(struct insn *insn, uint32_t operands, uint32_t word)
{
	unsigned int d = a64_bits(word, 0, 5), n = a64_bits(word, 5, 5), a = a64_bits(word, 10, 5),
		     m = a64_bits(word, 16, 5);

	if (operands & A64_NS || (operands & A64_N && n != 31)) {
		insn_regs_add(&insn->reads, n);
		insn->sources[0] = (uint8_t)n;
	}
	if (operands & A64_MS || (operands & A64_M && m != 31)) {
		insn_regs_add(&insn->reads, m);
		insn->sources[1] = (uint8_t)m;
	}
	if (operands & A64_A && a != 31) {
		insn_regs_add(&insn->reads, a);
		insn->sources[2] = (uint8_t)a;
	}
	if (operands & A64_DS || (operands & A64_D && d != 31)) {
		insn_regs_add(&insn->reads, d);
		insn->sources[operands & (A64_N | A64_NS) ? 2 : 0] = (uint8_t)d;
	}
	if (operands & A64_WDS || (operands & A64_WD && d != 31)) {
		insn_regs_add(&insn->writes, d);
		insn->destination = (uint8_t)d;
	}
}

static void vector_apply(struct insn *insn, uint32_t operands, uint32_t word)
{
	unsigned int d = a64_bits(word, 0, 5) + INSN_REG_FP, n = a64_bits(word, 5, 5) + INSN_REG_FP,
		     a = a64_bits(word, 10, 5) + INSN_REG_FP,
		     m = a64_bits(word, 16, operands & A64_VM4 ? 4 : 5) + INSN_REG_FP;

	insn->flags |= INSN_FP;
	if (operands & A64_VN) {
		insn_regs_add(&insn->reads, n);
		insn->sources[0] = (uint8_t)n;
	}
	if (operands & A64_VM) {
		insn_regs_add(&insn->reads, m);
		insn->sources[1] = (uint8_t)m;
	}
	if (operands & A64_VA) {
		insn_regs_add(&insn->reads, a);
		insn->sources[2] = (uint8_t)a;
	}
	if (operands & A64_VD || (operands & A64_NARROW && word >> 30 & 1)) {
		insn_regs_add(&insn->reads, d);
		insn->sources[2] = (uint8_t)d;
	}
	if (operands & A64_WV) {
		insn_regs_add(&insn->writes, d);
		insn->destination = (uint8_t)d;
	}
}

void a64_apply(struct insn *insn, const struct a64_pattern *pattern, uint32_t word)
{
	insn->class = pattern->class;
	integer_apply(insn, pattern->operands, word);
	if (pattern->operands & (A64_VN | A64_VM | A64_VA | A64_VD | A64_WV))
		vector_apply(insn, pattern->operands, word);
	if (pattern->operands & A64_FR)
		insn_regs_add(&insn->reads, INSN_REG_FLAGS);
	if (pattern->operands & A64_FW)
		insn_regs_add(&insn->writes, INSN_REG_FLAGS);
}
