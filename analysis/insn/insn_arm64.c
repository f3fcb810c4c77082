// SPDX-License-Identifier: GPL-2.0-only
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <capstone/capstone.h>

#include "analysis/insn/a64.h"
#include "analysis/insn/a64_control.h"
#include "analysis/insn/a64_integer.h"
#include "analysis/insn/a64_memory.h"
#include "analysis/insn/a64_text.h"
#include "analysis/insn/a64_vector.h"

#define STACK_POINTER 31

/*
 * SVE: recognised but not decoded. All registers in the usual fields are read, the first is
 * written. So no dependence is missed, but some of these registers are not operands.
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

static size_t insn_arm64_decode(struct insn *ret, const uint8_t *code, size_t bytes,
				uint64_t address)
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

/* Capstone provides the text but not reliable registers; instructions unknown to both are .inst. */
static int format(char text[INSN_TEXT_BYTES], const uint8_t *code, size_t bytes, uint64_t address)
{
	struct insn insn;
	cs_insn *shown;
	csh handle;

	if (insn_arm64_decode(&insn, code, bytes, address) == 0) {
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
	.frame_pointer = 29,
	.argument = 0,
	.decode = insn_arm64_decode,
	.format = format,
};
