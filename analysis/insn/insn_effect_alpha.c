// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/insn_effect.h"

/* r9 to r15, global and stack pointer: preserved by callees or recomputed by callers */
#define SAVED 0x4000fe00U
#define RESULTS 0x1U

/* opcode << 8 | function, for opcodes with a function */
#define OPERATE(word) ((word) >> 26 << 8 | ((word) >> 5 & 0x7f))

enum operation {
	ADDL = 0x1000,
	S4ADDL = 0x1002,
	SUBL = 0x1009,
	S8ADDL = 0x1012,
	CMPULT = 0x101d,
	CMPEQ = 0x102d,
	ADDQ = 0x1020,
	S4ADDQ = 0x1022,
	SUBQ = 0x1029,
	S8ADDQ = 0x1032,
	CMPULE = 0x103d,
	CMPLT = 0x104d,
	CMPLE = 0x106d,
	AND = 0x1100,
	BIS = 0x1120,
	ZAPNOT = 0x1231,
	SRL = 0x1234,
	SLL = 0x1239,
};

enum opcode {
	LDA = 0x08,
	LDAH = 0x09,
	LDBU = 0x0a,
	LDWU = 0x0c,
	LDL = 0x28,
	LDQ = 0x29,
	STL = 0x2c,
	STQ = 0x2d,
	BEQ = 0x39,
	BLT = 0x3a,
	BLE = 0x3b,
	BNE = 0x3d,
	BGE = 0x3e,
	BGT = 0x3f,
};

/* base = Rb or the literal, index = Ra, shifted */
static void get_sum(struct insn_effect *effect, const struct insn *insn, uint8_t scale,
		    int64_t sign)
{
	uint8_t a = insn->sources[0], b = insn->sources[1];

	if (sign < 0 && b != INSN_REG_NONE)
		return;
	effect->kind = INSN_EFFECT_SUM;
	effect->constant = sign * insn->immediate;
	effect->base = b;
	effect->index = a;
	effect->scale = scale;
	if (a == INSN_REG_NONE && b == INSN_REG_NONE) {
		effect->kind = INSN_EFFECT_CONSTANT;
	} else if (b == INSN_REG_NONE && scale == 0) {
		effect->base = a;
		effect->index = INSN_REG_NONE;
	}
}

/* addl with only one operand extends the sign. */
static void get_sum_of_32(struct insn_effect *effect, const struct insn *insn, int64_t sign)
{
	uint8_t a = insn->sources[0], b = insn->sources[1];

	effect->bytes = 4;
	effect->is_signed = true;
	get_sum(effect, insn, 0, sign);
	if (insn->immediate != 0 || (a == INSN_REG_NONE) == (b == INSN_REG_NONE))
		return;
	effect->kind = INSN_EFFECT_EXTEND;
	effect->base = a != INSN_REG_NONE ? a : b;
	effect->index = INSN_REG_NONE;
}

static void get_zapnot(struct insn_effect *effect, const struct insn *insn)
{
	if (insn->sources[1] != INSN_REG_NONE ||
	    (insn->immediate != 1 && insn->immediate != 3 && insn->immediate != 15))
		return;
	effect->kind = INSN_EFFECT_EXTEND;
	effect->base = insn->sources[0];
	effect->bytes = insn->immediate == 15 ? 4 : (uint8_t)((insn->immediate + 1) / 2);
}

static void get_with_literal(struct insn_effect *effect, const struct insn *insn,
			     enum insn_effect_kind kind)
{
	if (insn->sources[1] != INSN_REG_NONE)
		return;
	effect->kind = kind;
	effect->base = insn->sources[0];
	effect->constant = insn->immediate;
}

static void get_or(struct insn_effect *effect, const struct insn *insn)
{
	uint8_t a = insn->sources[0], b = insn->sources[1];

	if (a != INSN_REG_NONE && (b != INSN_REG_NONE ? a != b : insn->immediate != 0))
		return;
	effect->kind =
		a == INSN_REG_NONE && b == INSN_REG_NONE ? INSN_EFFECT_CONSTANT : INSN_EFFECT_SUM;
	effect->base = a != INSN_REG_NONE ? a : b;
	effect->constant = insn->immediate;
}

static void get_operate(struct insn_effect *effect, const struct insn *insn)
{
	switch (OPERATE(insn->opcode)) {
	case ADDL:
		get_sum_of_32(effect, insn, 1);
		break;
	case SUBL:
		get_sum_of_32(effect, insn, -1);
		break;
	case ADDQ:
		get_sum(effect, insn, 0, 1);
		break;
	case SUBQ:
		get_sum(effect, insn, 0, -1);
		break;
	case S4ADDL:
	case S4ADDQ:
		get_sum(effect, insn, 2, 1);
		break;
	case S8ADDL:
	case S8ADDQ:
		get_sum(effect, insn, 3, 1);
		break;
	case AND:
		get_with_literal(effect, insn, INSN_EFFECT_AND);
		break;
	case BIS:
		get_or(effect, insn);
		break;
	case ZAPNOT:
		get_zapnot(effect, insn);
		break;
	case SRL:
		get_with_literal(effect, insn, INSN_EFFECT_SHIFT);
		break;
	case SLL:
		if (insn->sources[1] != INSN_REG_NONE || insn->immediate > 6)
			break;
		effect->kind = INSN_EFFECT_SUM;
		effect->index = insn->sources[0];
		effect->scale = (uint8_t)insn->immediate;
		break;
	default:
		break;
	}
}

static void get(struct insn_effect *effect, const struct insn *insn)
{
	uint32_t opcode = insn->opcode >> 26;

	if (insn->flags & INSN_LINKS) {
		effect->kind = INSN_EFFECT_CONSTANT;
		effect->constant = (int64_t)(insn->address + insn->bytes);
		return;
	}
	switch (opcode) {
	case LDA:
	case LDAH:
		effect->kind =
			insn->sources[1] == INSN_REG_NONE ? INSN_EFFECT_CONSTANT : INSN_EFFECT_SUM;
		effect->base = insn->sources[1];
		effect->constant = insn->immediate;
		break;
	case LDBU:
	case LDWU:
	case LDL:
	case LDQ:
		effect->kind = INSN_EFFECT_LOAD;
		effect->bytes = insn->memory.bytes;
		effect->is_signed = opcode == LDL;
		break;
	case STL:
	case STQ:
		effect->kind = INSN_EFFECT_STORE;
		effect->base = insn->sources[0];
		effect->bytes = insn->memory.bytes;
		break;
	default:
		get_operate(effect, insn);
		break;
	}
}

static bool insn_effect_alpha_compare(struct insn_compare *ret, const struct insn *insn)
{
	uint32_t operation = OPERATE(insn->opcode);

	if ((operation != CMPULE && operation != CMPULT && operation != CMPLE &&
	     operation != CMPLT && operation != CMPEQ) ||
	    insn->sources[0] == INSN_REG_NONE || insn->sources[1] != INSN_REG_NONE)
		return false;
	*ret = (struct insn_compare){
		.reg = insn->sources[0], .bytes = 8, .constant = (uint64_t)insn->immediate};
	return true;
}

static uint8_t branch_input(const struct insn *branch)
{
	uint32_t opcode = branch->opcode >> 26;

	return opcode == BEQ || opcode == BNE ? branch->sources[0] : INSN_REG_NONE;
}

/* Return the relation that holds if a comparison's result is not 0. */
static enum insn_relation relation_of(const struct insn *compared)
{
	switch (OPERATE(compared->opcode)) {
	case CMPEQ:
		return INSN_RELATION_EQUAL;
	case CMPULT:
		return INSN_RELATION_BELOW;
	case CMPULE:
		return INSN_RELATION_BELOW_EQUAL;
	case CMPLT:
		return INSN_RELATION_LESS;
	case CMPLE:
		return INSN_RELATION_LESS_EQUAL;
	default:
		return INSN_RELATION_NONE;
	}
}

static enum insn_relation relation(const struct insn *compared, const struct insn *branch,
				   bool taken)
{
	enum insn_relation holds = relation_of(compared);

	return (branch->opcode >> 26 == BNE) == taken ? holds : insn_relation_opposite(holds);
}

/* Return the relation of a register to 0. */
static enum insn_relation relation_to_zero(const struct insn *branch)
{
	switch (branch->opcode >> 26) {
	case BEQ:
		return INSN_RELATION_EQUAL;
	case BLT:
		return INSN_RELATION_LESS;
	case BLE:
		return INSN_RELATION_LESS_EQUAL;
	case BNE:
		return INSN_RELATION_NOT_EQUAL;
	case BGE:
		return INSN_RELATION_GREATER_EQUAL;
	case BGT:
		return INSN_RELATION_GREATER;
	default:
		return INSN_RELATION_NONE;
	}
}

static bool insn_effect_alpha_test(struct insn_test *ret, const struct insn *setter,
				   const struct insn *branch)
{
	ret->bytes = 8;
	if (setter == NULL) {
		ret->left = branch->sources[0];
		ret->relation = relation_to_zero(branch);
		return true;
	}
	if (branch_input(branch) == INSN_REG_NONE)
		return false;
	ret->left = setter->sources[0];
	ret->right = setter->sources[1];
	ret->constant = setter->immediate;
	ret->relation = relation(setter, branch, true);
	return true;
}

static uint8_t jump_register(const struct insn *jump)
{
	return jump->sources[1];
}

static bool insn_effect_alpha_stack(const struct insn *insn, int64_t *delta)
{
	*delta = 0;
	return insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT;
}

const struct insn_effect_isa insn_effect_alpha = {
	.get = get,
	.compare = insn_effect_alpha_compare,
	.branch_input = branch_input,
	.relation = relation,
	.test = insn_effect_alpha_test,
	.jump_register = jump_register,
	.stack = insn_effect_alpha_stack,
	.results = RESULTS,
	.saved = SAVED,
};
