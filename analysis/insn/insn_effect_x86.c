// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/insn_effect.h"

#include <Zydis/Mnemonic.h>

#define RSP 4
/* rbx, rsp, rbp, r12 to r15 */
#define SAVED 0xf038U
/* rax and rdx */
#define RESULTS 0x5U

static bool reads_memory(const struct insn *insn)
{
	return (insn->flags & INSN_READS_MEMORY) != 0;
}

/* The decoder does not treat the stack pointer as data. */
static uint8_t destination(const struct insn *insn)
{
	if (insn->destination == INSN_REG_NONE && insn_regs_has(&insn->writes, RSP))
		return RSP;
	return insn->destination;
}

/* Writing less than 32 bits leaves the other bits unchanged. */
static bool writes_whole(const struct insn *insn)
{
	return destination(insn) != INSN_REG_NONE && insn->operand_bytes >= 4;
}

static void get_load(struct insn_effect *effect, const struct insn *insn, bool is_signed)
{
	if (!writes_whole(insn) || insn->memory.segment || insn->memory.bytes == 0)
		return;
	effect->kind = INSN_EFFECT_LOAD;
	effect->bytes = insn->memory.bytes;
	effect->is_signed = is_signed;
}

static void get_move(struct insn_effect *effect, const struct insn *insn)
{
	if (reads_memory(insn)) {
		get_load(effect, insn, false);
	} else if (insn->flags & INSN_WRITES_MEMORY) {
		effect->kind = INSN_EFFECT_STORE;
		effect->base = insn->sources[0];
		effect->bytes = insn->memory.bytes;
		effect->constant = insn->immediate;
	} else if (writes_whole(insn) && insn->sources[0] == INSN_REG_NONE) {
		effect->kind = INSN_EFFECT_CONSTANT;
		effect->constant = insn->immediate;
	} else if (writes_whole(insn)) {
		effect->kind = INSN_EFFECT_SUM;
		effect->base = insn->sources[0];
	}
}

/* @most: width to assume for a register if the number of extended bytes is unknown. */
static void get_extension(struct insn_effect *effect, const struct insn *insn, uint8_t most,
			  bool is_signed)
{
	if (reads_memory(insn)) {
		get_load(effect, insn, is_signed);
	} else if (writes_whole(insn)) {
		effect->kind = INSN_EFFECT_EXTEND;
		effect->base = insn->sources[0];
		effect->bytes = insn->immediate > 0 ? (uint8_t)insn->immediate : most;
		effect->is_signed = is_signed;
	}
}

static void insn_effect_x86_get_address(struct insn_effect *effect, const struct insn *insn)
{
	const struct insn_memory *memory = &insn->memory;

	if (!writes_whole(insn))
		return;
	effect->constant = memory->displacement;
	effect->base = memory->base;
	effect->index = memory->index;
	effect->scale = memory->scale;
	effect->kind = memory->base == INSN_REG_NONE && memory->index == INSN_REG_NONE
			       ? INSN_EFFECT_CONSTANT
			       : INSN_EFFECT_SUM;
}

static bool has_one_source(const struct insn *insn)
{
	return insn->sources[0] != INSN_REG_NONE && insn->sources[1] == INSN_REG_NONE;
}

static bool is_step(const struct insn *insn)
{
	return (insn->flags & INSN_WRITES_MEMORY) != 0 && insn->sources[0] == INSN_REG_NONE;
}

static void get_memory_step(struct insn_effect *effect, const struct insn *insn, int64_t step)
{
	effect->kind = INSN_EFFECT_STEP;
	effect->bytes = insn->memory.bytes;
	effect->constant = step;
}

static void get_sum(struct insn_effect *effect, const struct insn *insn, int sign)
{
	if (is_step(insn)) {
		get_memory_step(effect, insn,
				sign < 0 ? (int64_t)(0 - (uint64_t)insn->immediate)
					 : insn->immediate);
		return;
	}
	if (!writes_whole(insn) || reads_memory(insn))
		return;
	if (has_one_source(insn)) {
		effect->constant =
			sign < 0 ? (int64_t)(0 - (uint64_t)insn->immediate) : insn->immediate;
	} else {
		effect->index = insn->sources[0];
	}
	effect->base = effect->destination;
	effect->kind = sign < 0 && effect->index != INSN_REG_NONE ? INSN_EFFECT_DIFFERENCE
								  : INSN_EFFECT_SUM;
}

static void get_step(struct insn_effect *effect, const struct insn *insn, int64_t step)
{
	if (is_step(insn)) {
		get_memory_step(effect, insn, step);
		return;
	}
	if (!writes_whole(insn) || reads_memory(insn))
		return;
	effect->kind = INSN_EFFECT_SUM;
	effect->base = effect->destination;
	effect->constant = step;
}

static void get_with_constant(struct insn_effect *effect, const struct insn *insn,
			      enum insn_effect_kind kind)
{
	if (!writes_whole(insn) || reads_memory(insn) || !has_one_source(insn))
		return;
	effect->kind = kind;
	effect->base = effect->destination;
	effect->constant = insn->immediate;
	if (kind == INSN_EFFECT_AND && insn->operand_bytes == 4)
		effect->constant &= UINT32_MAX;
}

static void get_shift_left(struct insn_effect *effect, const struct insn *insn)
{
	if (!writes_whole(insn) || reads_memory(insn) || !has_one_source(insn) ||
	    insn->immediate < 1 || insn->immediate > 6)
		return;
	effect->kind = INSN_EFFECT_SUM;
	effect->index = effect->destination;
	effect->scale = (uint8_t)insn->immediate;
}

static void get(struct insn_effect *effect, const struct insn *insn)
{
	effect->destination = destination(insn);
	if (insn->flags & INSN_ZEROES) {
		effect->kind = INSN_EFFECT_CONSTANT;
		return;
	}
	switch ((ZydisMnemonic)insn->opcode) {
	case ZYDIS_MNEMONIC_MOV:
		get_move(effect, insn);
		break;
	case ZYDIS_MNEMONIC_MOVZX:
		get_extension(effect, insn, 2, false);
		break;
	case ZYDIS_MNEMONIC_MOVSX:
		get_extension(effect, insn, 2, true);
		break;
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_CDQE:
		get_extension(effect, insn, 4, true);
		break;
	case ZYDIS_MNEMONIC_LEA:
		insn_effect_x86_get_address(effect, insn);
		break;
	case ZYDIS_MNEMONIC_ADD:
		get_sum(effect, insn, 1);
		break;
	case ZYDIS_MNEMONIC_SUB:
		get_sum(effect, insn, -1);
		break;
	case ZYDIS_MNEMONIC_INC:
		get_step(effect, insn, 1);
		break;
	case ZYDIS_MNEMONIC_DEC:
		get_step(effect, insn, -1);
		break;
	case ZYDIS_MNEMONIC_AND:
		get_with_constant(effect, insn, INSN_EFFECT_AND);
		break;
	case ZYDIS_MNEMONIC_SHR:
		get_with_constant(effect, insn, INSN_EFFECT_SHIFT);
		break;
	case ZYDIS_MNEMONIC_SHL:
		get_shift_left(effect, insn);
		break;
	default:
		break;
	}
}

static uint64_t insn_effect_x86_cut(int64_t value, uint8_t bytes)
{
	return bytes >= 8 ? (uint64_t)value : (uint64_t)value & ((UINT64_C(1) << (8 * bytes)) - 1);
}

static bool insn_effect_x86_compare(struct insn_compare *ret, const struct insn *insn)
{
	uint8_t bytes = insn->operand_bytes;

	if (insn->opcode != ZYDIS_MNEMONIC_CMP || bytes == 0 || bytes > 8 ||
	    insn->sources[1] != INSN_REG_NONE || insn->memory.segment ||
	    reads_memory(insn) == (insn->sources[0] != INSN_REG_NONE))
		return false;
	*ret = (struct insn_compare){.reg = insn->sources[0],
				     .bytes = bytes,
				     .constant = insn_effect_x86_cut(insn->immediate, bytes)};
	return true;
}

/* jb and jae depend on the carry alone. */
static uint8_t branch_input(const struct insn *branch)
{
	return branch->opcode == ZYDIS_MNEMONIC_JB || branch->opcode == ZYDIS_MNEMONIC_JNB
		       ? INSN_REG_FLAGS
		       : INSN_REG_FLAGS + 2;
}

/* Return the relation that holds if a branch is taken. */
static enum insn_relation condition(const struct insn *branch)
{
	switch ((ZydisMnemonic)branch->opcode) {
	case ZYDIS_MNEMONIC_JZ:
		return INSN_RELATION_EQUAL;
	case ZYDIS_MNEMONIC_JNZ:
		return INSN_RELATION_NOT_EQUAL;
	case ZYDIS_MNEMONIC_JB:
		return INSN_RELATION_BELOW;
	case ZYDIS_MNEMONIC_JNB:
		return INSN_RELATION_ABOVE_EQUAL;
	case ZYDIS_MNEMONIC_JBE:
		return INSN_RELATION_BELOW_EQUAL;
	case ZYDIS_MNEMONIC_JNBE:
		return INSN_RELATION_ABOVE;
	case ZYDIS_MNEMONIC_JL:
	case ZYDIS_MNEMONIC_JS:
		return INSN_RELATION_LESS;
	case ZYDIS_MNEMONIC_JNL:
	case ZYDIS_MNEMONIC_JNS:
		return INSN_RELATION_GREATER_EQUAL;
	case ZYDIS_MNEMONIC_JLE:
		return INSN_RELATION_LESS_EQUAL;
	case ZYDIS_MNEMONIC_JNLE:
		return INSN_RELATION_GREATER;
	default:
		return INSN_RELATION_NONE;
	}
}

static enum insn_relation relation(const struct insn *compared, const struct insn *branch,
				   bool taken)
{
	(void)compared;
	return taken ? condition(branch) : insn_relation_opposite(condition(branch));
}

/* Return false for ah, which has the same number as al. */
static bool is_whole_or_lowest(const struct insn *insn)
{
	return insn->operand_bytes > 1 || (insn->flags & INSN_LOW_BYTES) != 0;
}

/* With a register and a memory operand, it is unknown which one is subtracted. */
static bool test_compare(struct insn_test *ret, const struct insn *compare)
{
	const uint8_t *sources = compare->sources;

	ret->constant = compare->immediate;
	if (reads_memory(compare)) {
		ret->left = INSN_TEST_MEMORY;
		ret->right = sources[0];
		return ret->right == INSN_REG_NONE || ret->relation <= INSN_RELATION_NOT_EQUAL;
	}
	ret->left = has_one_source(compare) ? sources[0] : sources[1];
	ret->right = has_one_source(compare) ? INSN_REG_NONE : sources[0];
	return is_whole_or_lowest(compare);
}

/* The carry after arithmetic is unknown. */
static bool insn_effect_x86_test(struct insn_test *ret, const struct insn *setter,
				 const struct insn *branch)
{
	const uint8_t *sources;

	if (setter == NULL)
		return false;
	sources = setter->sources;
	ret->relation = condition(branch);
	ret->bytes = setter->operand_bytes;
	ret->left = setter->destination;
	ret->after = true;
	switch ((ZydisMnemonic)setter->opcode) {
	case ZYDIS_MNEMONIC_CMP:
		ret->after = false;
		return test_compare(ret, setter);
	case ZYDIS_MNEMONIC_TEST:
		ret->left = sources[0];
		return sources[0] == sources[1] && is_whole_or_lowest(setter) &&
		       !insn_relation_is_unsigned(ret->relation);
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
		if (is_step(setter))
			ret->left = INSN_TEST_MEMORY;
		return (is_step(setter) || writes_whole(setter)) &&
		       !insn_relation_is_unsigned(ret->relation);
	default:
		return false;
	}
}

static uint8_t jump_register(const struct insn *jump)
{
	return reads_memory(jump) ? INSN_REG_NONE : jump->sources[0];
}

static bool insn_effect_x86_stack(const struct insn *insn, int64_t *delta)
{
	switch ((ZydisMnemonic)insn->opcode) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		*delta = -8;
		return true;
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPFQ:
		*delta = 8;
		return true;
	default:
		*delta = 0;
		return insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT;
	}
}

static bool leaves(const struct insn *insn)
{
	return insn->opcode == ZYDIS_MNEMONIC_LEAVE;
}

const struct insn_effect_isa insn_effect_x86 = {
	.get = get,
	.compare = insn_effect_x86_compare,
	.branch_input = branch_input,
	.relation = relation,
	.test = insn_effect_x86_test,
	.jump_register = jump_register,
	.stack = insn_effect_x86_stack,
	.leaves = leaves,
	.results = RESULTS,
	.saved = SAVED,
};
