// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/insn_arm64.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <capstone/capstone.h>

#define STACK_POINTER 31

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

/* Elements of a vector shift are of the highest bit set in immh (bits 19-22). */
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

/*
 * SVE: known to be there and no more. Registers are what the usual fields may name,
 * all of them read, the first written; so nothing is missed that an instruction
 * depends on, but not everything named is real.
 */
static void sve_apply(struct insn *insn, uint32_t word)
{
	static const uint8_t fields[] = {0, 5, 16};
	size_t i;

	insn->class = INSN_OTHER;
	insn->flags |= INSN_FP | INSN_READS_MEMORY | INSN_WRITES_MEMORY;
	for (i = 0; i < sizeof(fields); i++) {
		insn_regs_add(&insn->reads, a64_bits(word, fields[i], 5));
		insn_regs_add(&insn->reads, INSN_REG_FP + a64_bits(word, fields[i], 5));
	}
	insn_regs_add(&insn->reads, INSN_REG_FLAGS);
	insn_regs_add(&insn->writes, INSN_REG_FLAGS);
	a64_write(insn, a64_bits(word, 0, 5));
	insn_regs_add(&insn->writes, INSN_REG_FP + a64_bits(word, 0, 5));
}

static bool group_decode(struct insn *insn, uint32_t word)
{
	switch (a64_bits(word, 25, 4)) {
	case 2:
		sve_apply(insn, word);
		return true;
	case 8:
	case 9:
		return a64_immediate_decode(insn, word);
	case 10:
	case 11:
		return a64_control_decode(insn, word);
	case 4:
	case 6:
	case 12:
	case 14:
		return a64_memory_decode(insn, word);
	case 5:
	case 13:
		return a64_register_decode(insn, word);
	case 7:
	case 15:
		return a64_vector_decode(insn, word);
	default: /* udf */
		insn->flow = INSN_FLOW_STOP;
		return word >> 16 == 0;
	}
}

static size_t decode(struct insn *ret, const uint8_t *code, size_t bytes, uint64_t address)
{
	struct insn insn = {
		.address = address,
		.memory = {.base = INSN_REG_NONE, .index = INSN_REG_NONE},
		.sources = {INSN_REG_NONE, INSN_REG_NONE, INSN_REG_NONE, INSN_REG_NONE},
		.destination = INSN_REG_NONE,
		.bytes = 4,
	};

	if (bytes < 4)
		return 0;
	insn.opcode = (uint32_t)code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 |
		      (uint32_t)code[3] << 24;
	insn.operand_bytes = insn.opcode >> 31 ? 8 : 4;
	if (!group_decode(&insn, insn.opcode))
		return 0;
	*ret = insn;
	return 4;
}

/* Capstone's text is good, its registers are not; what neither of us has is .inst. */
static int format(char text[INSN_TEXT_BYTES], const uint8_t *code, size_t bytes, uint64_t address)
{
	struct insn insn;
	cs_insn *shown;
	csh handle;

	if (decode(&insn, code, bytes, address) == 0) {
		if (bytes >= 4)
			snprintf(text, INSN_TEXT_BYTES, ".word 0x%02x%02x%02x%02x", code[3],
				 code[2], code[1], code[0]);
		else
			text[0] = '\0';
		return -EINVAL;
	}
	if (a64_text(text, insn.opcode))
		return 0;
	snprintf(text, INSN_TEXT_BYTES, ".inst 0x%08x", insn.opcode);
	if (cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &handle) != CS_ERR_OK)
		return 0;
	if (cs_disasm(handle, code, 4, address, 1, &shown) == 1) {
		snprintf(text, INSN_TEXT_BYTES, "%.31s%s%.127s", shown->mnemonic,
			 shown->op_str[0] != '\0' ? " " : "", shown->op_str);
		cs_free(shown, 1);
	}
	cs_close(&handle);
	return 0;
}

const struct insn_decoder insn_arm64_decoder = {
	.isa = INSN_ISA_ARM64,
	.name = "arm64",
	.machine = EM_AARCH64,
	.alignment = 4,
	.stack_pointer = STACK_POINTER,
	.decode = decode,
	.format = format,
};
