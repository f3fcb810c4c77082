// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/insn_effect.h"

#define ZERO 31
#define SP 31
/* x19 to x29 and the stack pointer */
#define SAVED 0xbff80000U
#define RESULTS 0x3U

static uint32_t field(uint32_t word, unsigned int low, unsigned int count)
{
	return word >> low & ((1U << count) - 1);
}

static uint8_t not_zero(uint32_t reg)
{
	return reg == ZERO ? INSN_REG_NONE : (uint8_t)reg;
}

static bool is_add_immediate(uint32_t word)
{
	return (word & 0x1f000000) == 0x11000000;
}

static bool is_add_shifted(uint32_t word)
{
	return (word & 0x1f200000) == 0x0b000000;
}

static bool is_add_extended(uint32_t word)
{
	return (word & 0x1fe00000) == 0x0b200000;
}

static bool sets_flags(uint32_t word)
{
	return field(word, 29, 1) != 0;
}

static bool subtracts(uint32_t word)
{
	return field(word, 30, 1) != 0;
}

static int64_t add_constant(uint32_t word)
{
	return (int64_t)field(word, 10, 12) << (field(word, 22, 1) ? 12 : 0);
}

static void get_add_immediate(struct insn_effect *effect, uint32_t word)
{
	effect->kind = INSN_EFFECT_SUM;
	effect->base = (uint8_t)field(word, 5, 5);
	effect->constant = subtracts(word) ? -add_constant(word) : add_constant(word);
	effect->destination =
		sets_flags(word) ? not_zero(field(word, 0, 5)) : (uint8_t)field(word, 0, 5);
}

static void get_add_shifted(struct insn_effect *effect, uint32_t word)
{
	if (field(word, 22, 2) != 0 || field(word, 10, 6) > (subtracts(word) ? 0 : 6))
		return;
	if (subtracts(word) && (field(word, 5, 5) == 31 || field(word, 16, 5) == 31))
		return;
	effect->kind = subtracts(word) ? INSN_EFFECT_DIFFERENCE : INSN_EFFECT_SUM;
	effect->base = not_zero(field(word, 5, 5));
	effect->index = not_zero(field(word, 16, 5));
	effect->scale = (uint8_t)field(word, 10, 6);
}

static void get_add_extended(struct insn_effect *effect, uint32_t word)
{
	uint32_t option = field(word, 13, 3);

	if (subtracts(word))
		return;
	effect->kind = INSN_EFFECT_SUM;
	effect->base = (uint8_t)field(word, 5, 5);
	effect->index = not_zero(field(word, 16, 5));
	effect->scale = (uint8_t)field(word, 10, 3);
	effect->is_signed = option >= 4;
	effect->index_bytes = (uint8_t)(1U << (option & 3));
}

/* lsl, lsr, uxtb, sxtw and similar are aliases of these. */
static void get_bit_field(struct insn_effect *effect, uint32_t word, bool is_signed)
{
	uint32_t width = field(word, 31, 1) ? 64 : 32;
	uint32_t rotate = field(word, 16, 6), last = field(word, 10, 6);

	effect->base = not_zero(field(word, 5, 5));
	effect->is_signed = is_signed;
	if (rotate == 0 && (last == 7 || last == 15 || last == 31)) {
		effect->kind = INSN_EFFECT_EXTEND;
		effect->bytes = (uint8_t)((last + 1) / 8);
	} else if (rotate > last) {
		effect->kind = INSN_EFFECT_SUM;
		effect->index = effect->base;
		effect->base = INSN_REG_NONE;
		effect->scale = (uint8_t)(width - rotate);
		effect->is_signed = false;
		if (effect->scale > 6)
			effect->kind = INSN_EFFECT_OTHER;
	} else if (!is_signed && last == width - 1) {
		effect->kind = INSN_EFFECT_SHIFT;
		effect->constant = rotate;
	} else if (!is_signed && last - rotate < 16) {
		effect->kind = INSN_EFFECT_AND; /* of the shifted value; only the size counts */
		effect->constant = (INT64_C(2) << (last - rotate)) - 1;
	}
}

/* One integer register: ldr, ldrb, ldrsw, str. */
static bool is_load_store(uint32_t word)
{
	return (word & 0x3e000000) == 0x38000000;
}

static void get_load_store(struct insn_effect *effect, const struct insn *insn)
{
	uint32_t word = insn->opcode, operation = field(word, 22, 2);

	effect->bytes = insn->memory.bytes;
	if ((insn->flags & INSN_READS_MEMORY) && insn->class == INSN_LOAD) {
		effect->kind = INSN_EFFECT_LOAD;
		effect->is_signed = operation >= 2;
		effect->destination = not_zero(field(word, 0, 5));
	} else if ((insn->flags & INSN_WRITES_MEMORY) && insn->class == INSN_STORE) {
		effect->kind = INSN_EFFECT_STORE;
		effect->base = not_zero(field(word, 0, 5));
		effect->destination = INSN_REG_NONE;
	}
}

static void get(struct insn_effect *effect, const struct insn *insn)
{
	uint32_t word = insn->opcode;

	effect->bytes = field(word, 31, 1) ? 8 : 4;
	if ((word & 0x1f000000) == 0x10000000 || (word & 0x7f800000) == 0x52800000) {
		effect->kind = INSN_EFFECT_CONSTANT; /* adr, adrp, movz */
		effect->constant = insn->immediate;
		effect->bytes = 8;
	} else if (is_add_immediate(word)) {
		get_add_immediate(effect, word);
	} else if (is_add_shifted(word)) {
		get_add_shifted(effect, word);
	} else if (is_add_extended(word)) {
		get_add_extended(effect, word);
	} else if ((word & 0x7fe0ffe0) == 0x2a0003e0) {
		effect->kind = INSN_EFFECT_SUM; /* mov of a register */
		effect->base = not_zero(field(word, 16, 5));
		if (effect->base == INSN_REG_NONE)
			effect->kind = INSN_EFFECT_CONSTANT;
	} else if ((word & 0x1f800000) == 0x12000000 && field(word, 29, 2) % 3 == 0) {
		effect->kind = INSN_EFFECT_AND;
		effect->base = not_zero(field(word, 5, 5));
		effect->constant = insn->immediate;
	} else if ((word & 0x7f800000) == 0x53000000) {
		get_bit_field(effect, word, false);
	} else if ((word & 0x7f800000) == 0x13000000) {
		get_bit_field(effect, word, true);
	} else if (is_load_store(word)) {
		get_load_store(effect, insn);
	}
}

/* cmp and subs with an immediate */
static bool insn_effect_arm64_compare(struct insn_compare *ret, const struct insn *insn)
{
	uint32_t word = insn->opcode;

	if (!is_add_immediate(word) || !subtracts(word) || !sets_flags(word) ||
	    field(word, 5, 5) == SP)
		return false;
	*ret = (struct insn_compare){.reg = (uint8_t)field(word, 5, 5),
				     .bytes = field(word, 31, 1) ? 8 : 4,
				     .constant = (uint64_t)add_constant(word)};
	return true;
}

static bool is_conditional_branch(uint32_t word)
{
	return (word & 0xff000010) == 0x54000000;
}

static uint8_t branch_input(const struct insn *branch)
{
	return is_conditional_branch(branch->opcode) ? INSN_REG_FLAGS : INSN_REG_NONE;
}

/* Return the relation that holds if the branch is taken; none for conditions on overflow. */
static enum insn_relation relation_of(uint32_t condition)
{
	/* eq, cs, mi, vs, hi, ge, gt */
	static const enum insn_relation relations[8] = {
		[0] = INSN_RELATION_EQUAL,	   [1] = INSN_RELATION_ABOVE_EQUAL,
		[2] = INSN_RELATION_LESS,	   [4] = INSN_RELATION_ABOVE,
		[5] = INSN_RELATION_GREATER_EQUAL, [6] = INSN_RELATION_GREATER,
	};
	enum insn_relation relation = relations[condition >> 1];

	return (condition & 1) == 0 ? relation : insn_relation_opposite(relation);
}

static enum insn_relation relation(const struct insn *compared, const struct insn *branch,
				   bool taken)
{
	enum insn_relation holds = relation_of(field(branch->opcode, 0, 4));

	(void)compared;
	return taken ? holds : insn_relation_opposite(holds);
}

/* cbz, cbnz */
static bool test_register(struct insn_test *ret, uint32_t word)
{
	if ((word & 0x7e000000) != 0x34000000)
		return false;
	ret->left = not_zero(field(word, 0, 5));
	ret->bytes = field(word, 31, 1) ? 8 : 4;
	ret->relation = field(word, 24, 1) ? INSN_RELATION_NOT_EQUAL : INSN_RELATION_EQUAL;
	return true;
}

/* cmp and subs, with an immediate or an unmodified register */
static bool insn_effect_arm64_test(struct insn_test *ret, const struct insn *setter,
				   const struct insn *branch)
{
	uint32_t word;

	if (setter == NULL)
		return test_register(ret, branch->opcode);
	word = setter->opcode;
	if (!is_conditional_branch(branch->opcode) || !subtracts(word) || !sets_flags(word))
		return false;
	ret->relation = relation_of(field(branch->opcode, 0, 4));
	ret->left = (uint8_t)field(word, 5, 5);
	ret->bytes = field(word, 31, 1) ? 8 : 4;
	if (is_add_immediate(word)) {
		ret->constant = add_constant(word);
		return ret->left != SP;
	}
	ret->left = not_zero(ret->left);
	ret->right = not_zero(field(word, 16, 5));
	return is_add_shifted(word) && field(word, 22, 2) == 0 && field(word, 10, 6) == 0;
}

static uint8_t jump_register(const struct insn *jump)
{
	return not_zero(field(jump->opcode, 5, 5));
}

/* Addressing that updates the base register adds the immediate. */
static bool insn_effect_arm64_stack(const struct insn *insn, int64_t *delta)
{
	*delta = 0;
	if (insn->memory.pushes && insn->memory.base == SP) {
		*delta = insn->immediate;
		return true;
	}
	return insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT;
}

const struct insn_effect_isa insn_effect_arm64 = {
	.get = get,
	.compare = insn_effect_arm64_compare,
	.branch_input = branch_input,
	.relation = relation,
	.test = insn_effect_arm64_test,
	.jump_register = jump_register,
	.stack = insn_effect_arm64_stack,
	.results = RESULTS,
	.saved = SAVED,
};
