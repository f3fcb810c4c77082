// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/a64_control.h"

#include <string.h>

#define LINK 30
#define STACK 31

static bool branch(struct insn *insn, enum insn_flow flow, int64_t words)
{
	insn->flow = (uint8_t)flow;
	insn->class = INSN_CONTROL;
	insn->operand_bytes = 8;
	insn->target = insn->address + (uint64_t)(words * 4);
	if (flow == INSN_FLOW_CALL) {
		insn->flags |= INSN_LINKS;
		insn_regs_add(&insn->writes, LINK);
	}
	return true;
}

static bool conditional_branch(struct insn *insn, uint32_t word)
{
	branch(insn, INSN_FLOW_BRANCH, a64_signed(word, 5, 19));
	/* Conditions 14 and 15 are "always". */
	if (a64_bits(word, 1, 3) == 7)
		insn->flow = INSN_FLOW_JUMP;
	else
		insn_regs_add(&insn->reads, INSN_REG_FLAGS);
	return true;
}

static bool test_and_branch(struct insn *insn, uint32_t word)
{
	bool wide = word >> 31 != 0;

	if (a64_bits(word, 25, 1) != 0) { /* tbz, tbnz */
		branch(insn, INSN_FLOW_BRANCH, a64_signed(word, 5, 14));
		insn->immediate = (int64_t)(a64_bits(word, 31, 1) << 5 | a64_bits(word, 19, 5));
	} else {
		branch(insn, INSN_FLOW_BRANCH, a64_signed(word, 5, 19));
	}
	insn->operand_bytes = wide ? 8 : 4;
	a64_read(insn, a64_bits(word, 0, 5));
	a64_source(insn, a64_bits(word, 0, 5));
	return true;
}

static const struct {
	uint32_t mask;
	uint32_t value;
	uint8_t flow;
	bool modifier;	  /* authenticated with the register in bits 0-4 */
	bool stack;	  /* authenticated with the stack pointer */
	bool has_operand; /* otherwise the link register, or none */
} indirect[] = {
	{0xfffffc1f, 0xd61f0000, INSN_FLOW_JUMP_INDIRECT, false, false, true}, /* br */
	{0xfffffc1f, 0xd63f0000, INSN_FLOW_CALL_INDIRECT, false, false, true}, /* blr */
	{0xfffffc1f, 0xd65f0000, INSN_FLOW_RETURN, false, false, true},	       /* ret */
	{0xfffffbff, 0xd65f0bff, INSN_FLOW_RETURN, false, true, false},	       /* retaa */
	{0xfffff81f, 0xd61f081f, INSN_FLOW_JUMP_INDIRECT, false, false, true}, /* braaz */
	{0xfffff81f, 0xd63f081f, INSN_FLOW_CALL_INDIRECT, false, false, true}, /* blraaz */
	{0xfffff800, 0xd71f0800, INSN_FLOW_JUMP_INDIRECT, true, false, true},  /* braa */
	{0xfffff800, 0xd73f0800, INSN_FLOW_CALL_INDIRECT, true, false, true},  /* blraa */
	{0xffffffff, 0xd69f03e0, INSN_FLOW_RETURN, false, false, false},       /* eret */
	{0xfffffbff, 0xd69f0bff, INSN_FLOW_RETURN, false, true, false},	       /* eretaa */
	{0xffffffff, 0xd6bf03e0, INSN_FLOW_RETURN, false, false, false},       /* drps */
};

static void indirect_apply(struct insn *insn, uint32_t word, size_t which)
{
	bool exception = (word & 0xff000000) == 0xd6000000 && (word >> 21 & 0xf) >= 4;

	branch(insn, (enum insn_flow)indirect[which].flow, 0);
	insn->target = 0;
	if (indirect[which].has_operand) {
		a64_read(insn, a64_bits(word, 5, 5));
		a64_source(insn, a64_bits(word, 5, 5));
	} else if (!exception) {
		insn_regs_add(&insn->reads, LINK);
	}
	if (indirect[which].modifier)
		insn_regs_add(&insn->reads, a64_bits(word, 0, 5));
	if (indirect[which].stack)
		insn_regs_add(&insn->reads, STACK);
	if (insn->flow == INSN_FLOW_CALL_INDIRECT) {
		insn->flags |= INSN_LINKS;
		insn_regs_add(&insn->writes, LINK);
	}
	if (exception) {
		insn->class = INSN_SYSTEM;
		insn->flags |= INSN_SERIALIZES;
		insn_regs_add(&insn->writes, INSN_REG_FLAGS);
	}
}

static bool indirect_branch(struct insn *insn, uint32_t word)
{
	size_t i;

	for (i = 0; i < A64_COUNT(indirect); i++) {
		if ((word & indirect[i].mask) == indirect[i].value) {
			indirect_apply(insn, word, i);
			return true;
		}
	}
	return false;
}

/* Linux' convention: x0 .. x5 and x8 in, x0 out; hypervisor and firmware: x0 .. x7 in. */
static void system_call(struct insn *insn, bool linux_call)
{
	unsigned int i;

	for (i = 0; i < (linux_call ? 6 : 8); i++)
		insn_regs_add(&insn->reads, i);
	if (linux_call)
		insn_regs_add(&insn->reads, 8);
	for (i = 0; i < (linux_call ? 1 : 4); i++)
		insn_regs_add(&insn->writes, i);
}

static bool exception(struct insn *insn, uint32_t word)
{
	insn->class = INSN_SYSTEM;
	insn->immediate = a64_bits(word, 5, 16);
	switch (word & 0x00e0001f) {
	case 0x000001: /* svc */
	case 0x000002: /* hvc */
	case 0x000003: /* smc */
		insn->flags |= INSN_LEAVES;
		system_call(insn, a64_bits(word, 0, 2) == 1);
		return true;
	case 0x200000: /* brk */
	case 0x400000: /* hlt */
		insn->flow = INSN_FLOW_STOP;
		return true;
	case 0xa00001: /* dcps1 .. dcps3 */
	case 0xa00002:
	case 0xa00003:
	case 0x600000: /* tcancel */
		return true;
	default:
		return false;
	}
}

static void authenticate(struct insn *insn, unsigned int pointer, unsigned int modifier)
{
	insn->class = INSN_ALU;
	insn_regs_add(&insn->reads, pointer);
	insn_regs_add(&insn->writes, pointer);
	if (modifier != INSN_REG_NONE)
		insn_regs_add(&insn->reads, modifier);
	insn->sources[0] = (uint8_t)pointer;
	insn->destination = (uint8_t)pointer;
}

/* Unknown hints are no-operations, so that all of them decode. */
static void hint(struct insn *insn, unsigned int number)
{
	insn->class = INSN_NOP;
	switch (number) {
	case 2: /* wfe */
	case 3: /* wfi */
	case 4: /* sev */
	case 5: /* sevl */
		insn->class = INSN_SYSTEM;
		break;
	case 7: /* xpaclri */
		authenticate(insn, LINK, INSN_REG_NONE);
		break;
	case 8:	 /* pacia1716 */
	case 10: /* pacib1716 */
	case 12: /* autia1716 */
	case 14: /* autib1716 */
		authenticate(insn, 17, 16);
		break;
	case 16: /* esb */
	case 17: /* psb */
	case 18: /* tsb */
	case 20: /* csdb */
		insn->class = INSN_BARRIER;
		break;
	case 24: /* paciaz */
	case 26: /* pacibz */
	case 28: /* autiaz */
	case 30: /* autibz */
		authenticate(insn, LINK, INSN_REG_NONE);
		break;
	case 25: /* paciasp */
	case 27: /* pacibsp */
	case 29: /* autiasp */
	case 31: /* autibsp */
		authenticate(insn, LINK, STACK);
		break;
	default:
		break;
	}
}

static bool barrier(struct insn *insn, uint32_t word)
{
	insn->class = INSN_BARRIER;
	switch (a64_bits(word, 5, 3)) {
	case 2: /* clrex */
	case 4: /* dsb */
	case 5: /* dmb */
		return true;
	case 6: /* isb */
		insn->flags |= INSN_SERIALIZES;
		return true;
	case 7: /* sb */
		return a64_bits(word, 8, 4) == 0;
	case 1: /* dsb nXS */
		return a64_bits(word, 8, 2) == 2;
	case 3: /* tcommit */
		return a64_bits(word, 8, 4) == 0;
	default:
		return false;
	}
}

/* msr with an immediate, and flag instructions encoded in the same space */
static bool processor_state(struct insn *insn, uint32_t word)
{
	unsigned int field = a64_bits(word, 16, 3) << 3 | a64_bits(word, 5, 3);

	insn->class = INSN_SYSTEM;
	switch (field) {
	case 0: /* cfinv */
	case 1: /* xaflag */
	case 2: /* axflag */
		insn->class = INSN_ALU;
		insn_regs_add(&insn->reads, INSN_REG_FLAGS);
		insn_regs_add(&insn->writes, INSN_REG_FLAGS);
		return true;
	case 3:	 /* uao */
	case 4:	 /* pan */
	case 5:	 /* spsel */
	case 8:	 /* allint, pm */
	case 25: /* ssbs */
	case 26: /* dit */
	case 27: /* streaming mode */
	case 28: /* tco */
	case 30: /* daifset */
	case 31: /* daifclr */
		if (field == 31 && a64_bits(word, 9, 1) != 0)
			insn->flags |= INSN_UNMASKS;
		insn->immediate = a64_bits(word, 8, 4);
		return true;
	default:
		return false;
	}
}

/* sys, sysl, msr, mrs */
static bool system_register(struct insn *insn, uint32_t word)
{
	unsigned int t = a64_bits(word, 0, 5);
	bool read = a64_bits(word, 21, 1) != 0;

	insn->class = INSN_SYSTEM;
	insn->operand_bytes = 8;
	if (read) {
		a64_write(insn, t);
		insn->destination = t == 31 ? INSN_REG_NONE : (uint8_t)t;
	} else {
		a64_read(insn, t);
		a64_source(insn, t);
	}
	if ((word & 0xffffffe0) == 0xd53b4200)
		insn_regs_add(&insn->reads, INSN_REG_FLAGS);
	/* nzcv; random numbers, which may fail */
	if ((word & 0xffffffe0) == 0xd51b4200 || (word & 0xffffffc0) == 0xd53b2400)
		insn_regs_add(&insn->writes, INSN_REG_FLAGS);
	/* daif; the priority mask of the interrupt controller */
	if ((word & 0xffffffe0) == 0xd51b4220 || (word & 0xffffffe0) == 0xd5184600)
		insn->flags |= INSN_UNMASKS;
	if ((word & 0xffffffe0) == 0xd50b7420) { /* dc zva */
		insn->class = INSN_STORE;
		insn->flags |= INSN_WRITES_MEMORY;
		insn->memory.base = t == 31 ? INSN_REG_NONE : (uint8_t)t;
	}
	return true;
}

static bool system_instruction(struct insn *insn, uint32_t word)
{
	if ((word & 0xffcfffe0) == 0xd5031000 || (word & 0xffffffe0) == 0xd5031020) {
		system_register(insn, word & ~0x00200000U); /* wfet, wfit */
		return (word & 0x00300000) == 0;
	}
	if ((word & 0xfffff01f) == 0xd503201f) {
		hint(insn, a64_bits(word, 5, 7));
		return true;
	}
	if ((word & 0xfffff01f) == 0xd503301f)
		return barrier(insn, word);
	if ((word & 0xfff8f01f) == 0xd500401f)
		return processor_state(insn, word);
	if ((word & 0xfffffee0) == 0xd5233060) /* tstart, ttest */
		return system_register(insn, word);
	if (a64_bits(word, 19, 2) == 0)
		return false;
	return system_register(insn, word);
}

bool a64_control_decode(struct insn *insn, uint32_t word)
{
	switch (word >> 29) {
	case 0:
	case 4:
		return branch(insn, word >> 31 ? INSN_FLOW_CALL : INSN_FLOW_JUMP,
			      a64_signed(word, 0, 26));
	case 1:
	case 5:
		return test_and_branch(insn, word);
	case 2:
		return a64_bits(word, 24, 2) == 0 && conditional_branch(insn, word);
	case 6:
		if (a64_bits(word, 25, 1) != 0)
			return indirect_branch(insn, word);
		return a64_bits(word, 24, 1) == 0
			       ? exception(insn, word)
			       : a64_bits(word, 22, 2) == 0 && system_instruction(insn, word);
	default:
		return false;
	}
}
