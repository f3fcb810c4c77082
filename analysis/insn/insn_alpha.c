// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/insn.h"

#include <elf.h>
#include <endian.h>
#include <string.h>

#include "analysis/insn/alpha_opcodes.h"
#include "analysis/insn/insn_alpha_text.h"

#define INSN_BYTES 4
#define FPCR INSN_REG_MASK

/* PALcode functions that affect control flow or registers. */
enum pal_function {
	PAL_HALT = 0x00,
	PAL_RETSYS = 0x3d,
	PAL_RTI = 0x3f,
	PAL_BPT = 0x80,
	PAL_BUGCHK = 0x81,
	PAL_CALLSYS = 0x83,
	PAL_RDUNIQ = 0x9e,
	PAL_WRUNIQ = 0x9f,
	PAL_URTI = 0x92,
	PAL_GENTRAP = 0xaa,
};

#define REG_V0 0
#define REG_A0 16
#define REG_SP 30

#define OPCODE_LDAH 0x09U
#define OPCODE_BR 0x30U
#define OPCODE_BSR 0x34U

static const struct insn_memory no_memory = {.base = INSN_REG_NONE, .index = INSN_REG_NONE};

static int64_t displacement(uint32_t word)
{
	return (int16_t)(word & 0xffff);
}

/* Register 31 is not a register. */
static unsigned int int_reg(unsigned int field)
{
	return field == ALPHA_ZERO ? INSN_REG_NONE : field;
}

static unsigned int fp_reg(unsigned int field)
{
	return field == ALPHA_ZERO ? INSN_REG_NONE : INSN_REG_FP + field;
}

static void read_source(struct insn *insn, unsigned int which, unsigned int reg)
{
	insn->sources[which] = (uint8_t)reg;
	insn_regs_add(&insn->reads, reg);
}

static void write_destination(struct insn *insn, unsigned int reg)
{
	insn->destination = (uint8_t)reg;
	insn_regs_add(&insn->writes, reg);
}

/* Add several integer registers, given as a mask. */
static void add_regs(struct insn_regs *set, uint32_t mask)
{
	set->words[0] |= mask;
}

static void decode_pal(struct insn *insn, uint32_t word)
{
	switch (word & 0x3ffffff) {
	case PAL_HALT:
	case PAL_BPT:
	case PAL_BUGCHK:
		insn->flow = INSN_FLOW_STOP;
		break;
	case PAL_RETSYS:
	case PAL_RTI:
	case PAL_URTI:
		insn->flow = INSN_FLOW_RETURN;
		break;
	case PAL_CALLSYS: /* number and arguments; result, error and temporaries */
		add_regs(&insn->reads, 1U << REG_V0 | 0x3fU << REG_A0);
		add_regs(&insn->writes, 0x1bd801ff);
		break;
	case PAL_RDUNIQ:
		write_destination(insn, REG_V0);
		break;
	case PAL_WRUNIQ:
	case PAL_GENTRAP:
		read_source(insn, 0, REG_A0);
		break;
	default:
		break;
	}
}

static void decode_load_address(struct insn *insn, uint32_t word)
{
	bool high = word >> 26 == OPCODE_LDAH;

	read_source(insn, 1, int_reg(alpha_rb(word)));
	write_destination(insn, int_reg(alpha_ra(word)));
	insn->immediate = high ? displacement(word) * 65536 : displacement(word);
}

static void decode_memory(struct insn *insn, const struct alpha_op *op, uint32_t word)
{
	bool fp = op->form == ALPHA_MEMORY_FP;
	unsigned int data = fp ? fp_reg(alpha_ra(word)) : int_reg(alpha_ra(word));

	insn->memory.base = (uint8_t)int_reg(alpha_rb(word));
	insn->memory.displacement = displacement(word);
	insn->memory.bytes = op->bytes;
	insn_regs_add(&insn->reads, insn->memory.base);
	if ((op->flags & INSN_WRITES_MEMORY) != 0)
		read_source(insn, 0, data);
	/* A store conditional returns success in its register. */
	if ((op->flags & INSN_READS_MEMORY) != 0 || op->class == INSN_ATOMIC)
		write_destination(insn, data);
	/* A load to the zero register prefetches, or is the universal no-operation. */
	if (op->class == INSN_LOAD && data == INSN_REG_NONE)
		insn->class = INSN_PREFETCH;
	if (alpha_is_unop(word)) {
		insn->class = INSN_NOP;
		insn->flags = 0;
		insn->reads = (struct insn_regs){0};
		insn->memory = no_memory;
	}
}

static void decode_branch(struct insn *insn, const struct alpha_op *op, uint32_t word)
{
	unsigned int opcode = word >> 26, ra = int_reg(alpha_ra(word));

	insn->target = alpha_branch_target(word, insn->address);
	if (opcode == OPCODE_BR || opcode == OPCODE_BSR) {
		bool call = opcode == OPCODE_BSR && ra != INSN_REG_NONE;

		insn->flow = call ? INSN_FLOW_CALL : INSN_FLOW_JUMP;
		if (ra != INSN_REG_NONE)
			insn->flags |= INSN_LINKS;
		write_destination(insn, ra);
		return;
	}
	insn->flow = INSN_FLOW_BRANCH;
	read_source(insn, 0, op->form == ALPHA_BRANCH_FP ? fp_reg(alpha_ra(word)) : ra);
}

static void decode_jump(struct insn *insn, uint32_t word)
{
	static const uint8_t flows[4] = {INSN_FLOW_JUMP_INDIRECT, INSN_FLOW_CALL_INDIRECT,
					 INSN_FLOW_RETURN, INSN_FLOW_CALL_INDIRECT};
	unsigned int ra = int_reg(alpha_ra(word));

	insn->flow = flows[word >> 14 & 3];
	if (insn->flow == INSN_FLOW_CALL_INDIRECT && ra == INSN_REG_NONE)
		insn->flow = INSN_FLOW_JUMP_INDIRECT;
	if (ra != INSN_REG_NONE)
		insn->flags |= INSN_LINKS;
	read_source(insn, 1, int_reg(alpha_rb(word)));
	write_destination(insn, ra);
}

static void decode_operate(struct insn *insn, uint32_t word)
{
	read_source(insn, 0, int_reg(alpha_ra(word)));
	if (alpha_has_literal(word))
		insn->immediate = alpha_literal(word);
	else
		read_source(insn, 1, int_reg(alpha_rb(word)));
	if ((insn->flags & INSN_CONDITIONAL) != 0)
		read_source(insn, 2, int_reg(alpha_rc(word)));
	write_destination(insn, int_reg(alpha_rc(word)));
	/* An instruction that cannot change a register does nothing: nop is or zero,zero,zero. */
	if (insn->destination == INSN_REG_NONE && insn->class == INSN_ALU &&
	    insn->reads.words[0] == 0)
		insn->class = INSN_NOP;
}

static void decode_operate_fp(struct insn *insn, uint32_t word)
{
	read_source(insn, 0, fp_reg(alpha_ra(word)));
	read_source(insn, 1, fp_reg(alpha_rb(word)));
	if ((insn->flags & INSN_CONDITIONAL) != 0)
		read_source(insn, 2, fp_reg(alpha_rc(word)));
	write_destination(insn, fp_reg(alpha_rc(word)));
}

static void decode_fpcr(struct insn *insn, uint32_t word)
{
	bool to_fpcr = (word >> 5 & 0x7ff) == 0x024;

	if (to_fpcr) {
		read_source(insn, 0, fp_reg(alpha_ra(word)));
		write_destination(insn, FPCR);
	} else {
		insn_regs_add(&insn->reads, FPCR);
		write_destination(insn, fp_reg(alpha_ra(word)));
	}
}

static void decode_miscellaneous(struct insn *insn, const struct alpha_op *op, uint32_t word)
{
	switch (op->form) {
	case ALPHA_MISC_AB:
		read_source(insn, 1, int_reg(alpha_rb(word)));
		write_destination(insn, int_reg(alpha_ra(word)));
		break;
	case ALPHA_MISC_A:
		write_destination(insn, int_reg(alpha_ra(word)));
		break;
	case ALPHA_MISC_AT_B:
		insn->memory.base = (uint8_t)int_reg(alpha_rb(word));
		insn_regs_add(&insn->reads, insn->memory.base);
		break;
	default:
		break;
	}
}

static void decode_operands(struct insn *insn, const struct alpha_op *op, uint32_t word)
{
	switch (op->form) {
	case ALPHA_PAL:
		decode_pal(insn, word);
		break;
	case ALPHA_LOAD_ADDRESS:
		decode_load_address(insn, word);
		break;
	case ALPHA_MEMORY:
	case ALPHA_MEMORY_FP:
		decode_memory(insn, op, word);
		break;
	case ALPHA_BRANCH:
	case ALPHA_BRANCH_FP:
		decode_branch(insn, op, word);
		break;
	case ALPHA_JUMP:
		decode_jump(insn, word);
		break;
	case ALPHA_OPERATE_FP:
	case ALPHA_UNARY_FP:
		decode_operate_fp(insn, word);
		break;
	case ALPHA_TO_FP:
		read_source(insn, 0, int_reg(alpha_ra(word)));
		write_destination(insn, fp_reg(alpha_rc(word)));
		break;
	case ALPHA_FROM_FP:
		read_source(insn, 0, fp_reg(alpha_ra(word)));
		write_destination(insn, int_reg(alpha_rc(word)));
		break;
	case ALPHA_FPCR:
		decode_fpcr(insn, word);
		break;
	case ALPHA_OPERATE:
	case ALPHA_UNARY:
	case ALPHA_UNARY_REG:
	case ALPHA_REGISTERS:
	case ALPHA_CONSTANT:
		decode_operate(insn, word);
		break;
	default:
		decode_miscellaneous(insn, op, word);
		break;
	}
}

static bool read_word(uint32_t *word, const uint8_t *code, size_t bytes)
{
	if (bytes < INSN_BYTES)
		return false;
	memcpy(word, code, sizeof(*word));
	*word = le32toh(*word);
	return true;
}

static size_t insn_alpha_decode(struct insn *ret, const uint8_t *code, size_t bytes,
				uint64_t address)
{
	const struct alpha_op *op;
	uint32_t word;

	if (!read_word(&word, code, bytes))
		return 0;
	op = alpha_op_find(word);
	if (op == NULL)
		return 0;
	*ret = (struct insn){
		.address = address,
		.memory = no_memory,
		.opcode = word,
		.sources = {INSN_REG_NONE, INSN_REG_NONE, INSN_REG_NONE, INSN_REG_NONE},
		.destination = INSN_REG_NONE,
		.bytes = INSN_BYTES,
		.operand_bytes = op->bytes,
		.flow = INSN_FLOW_NEXT,
		.class = op->class,
		.flags = op->flags,
	};
	decode_operands(ret, op, word);
	return INSN_BYTES;
}

const struct insn_decoder insn_alpha_decoder = {
	.isa = INSN_ISA_ALPHA,
	.name = "alpha",
	.machine = EM_ALPHA,
	.alignment = INSN_BYTES,
	.stack_pointer = REG_SP,
	.frame_pointer = 15,
	.argument = 16,
	.decode = insn_alpha_decode,
	.format = insn_alpha_format,
};
