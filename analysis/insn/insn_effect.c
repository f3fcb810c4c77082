// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/insn_effect.h"

#include <stddef.h>

static const struct insn_effect_isa *const isas[] = {
	[INSN_ISA_X86_64] = &insn_effect_x86,
	[INSN_ISA_ARM64] = &insn_effect_arm64,
	[INSN_ISA_ALPHA] = &insn_effect_alpha,
};

static const struct insn_effect_isa *isa_of(const struct insn_decoder *decoder)
{
	size_t isa = (size_t)decoder->isa;

	return isa < sizeof(isas) / sizeof(*isas) ? isas[isa] : NULL;
}

struct insn_effect insn_effect_get(const struct insn_decoder *decoder, const struct insn *insn)
{
	const struct insn_effect_isa *isa = isa_of(decoder);
	struct insn_effect effect = {
		.kind = INSN_EFFECT_OTHER,
		.destination = insn->destination,
		.base = INSN_REG_NONE,
		.index = INSN_REG_NONE,
		.bytes = insn->operand_bytes,
	};

	if (isa != NULL)
		isa->get(&effect, insn);
	return effect;
}

bool insn_effect_compare(struct insn_compare *ret, const struct insn_decoder *decoder,
			 const struct insn *insn)
{
	const struct insn_effect_isa *isa = isa_of(decoder);

	return isa != NULL && isa->compare(ret, insn);
}

uint8_t insn_effect_branch_input(const struct insn_decoder *decoder, const struct insn *branch)
{
	const struct insn_effect_isa *isa = isa_of(decoder);

	if (isa == NULL || branch->flow != INSN_FLOW_BRANCH)
		return INSN_REG_NONE;
	return isa->branch_input(branch);
}

static struct insn_bound bound_of(const struct insn_compare *comparison,
				  enum insn_relation relation)
{
	unsigned int shift = 64 - 8U * comparison->bytes;
	int64_t value = (int64_t)comparison->constant;
	/* A value above a constant with the highest bit set is negative and near 0. */
	int64_t negative = (int64_t)(comparison->constant << shift) >> shift;
	struct insn_bound bound = {.kind = INSN_BOUND_RANGE, .high = value};

	switch (relation) {
	case INSN_RELATION_EQUAL:
		bound.kind = INSN_BOUND_EXACT;
		bound.low = value;
		break;
	case INSN_RELATION_BELOW:
		bound.high = value - 1;
		break;
	case INSN_RELATION_BELOW_EQUAL:
		break;
	case INSN_RELATION_ABOVE:
	case INSN_RELATION_ABOVE_EQUAL:
		bound.low = negative + (relation == INSN_RELATION_ABOVE);
		bound.high = -1;
		break;
	case INSN_RELATION_LESS:
		bound.kind = INSN_BOUND_SIGNED;
		bound.high = value - 1;
		break;
	case INSN_RELATION_LESS_EQUAL:
		bound.kind = INSN_BOUND_SIGNED;
		break;
	default:
		bound.kind = INSN_BOUND_NONE;
		break;
	}
	if (bound.low > bound.high || value < 0)
		bound.kind = INSN_BOUND_NONE;
	return bound;
}

struct insn_bound insn_effect_bound(const struct insn_decoder *decoder, const struct insn *compare,
				    const struct insn *branch, bool taken)
{
	const struct insn_effect_isa *isa = isa_of(decoder);
	struct insn_compare comparison;

	if (isa == NULL || !isa->compare(&comparison, compare))
		return (struct insn_bound){.kind = INSN_BOUND_NONE};
	return bound_of(&comparison, isa->relation(compare, branch, taken));
}

bool insn_effect_test(struct insn_test *ret, const struct insn_decoder *decoder,
		      const struct insn *setter, const struct insn *branch)
{
	const struct insn_effect_isa *isa = isa_of(decoder);

	*ret = (struct insn_test){.right = INSN_REG_NONE};
	return isa != NULL && branch->flow == INSN_FLOW_BRANCH && isa->test(ret, setter, branch) &&
	       ret->relation != INSN_RELATION_NONE && ret->left != INSN_REG_NONE;
}

enum insn_relation insn_relation_opposite(enum insn_relation relation)
{
	static const enum insn_relation opposites[] = {
		[INSN_RELATION_EQUAL] = INSN_RELATION_NOT_EQUAL,
		[INSN_RELATION_NOT_EQUAL] = INSN_RELATION_EQUAL,
		[INSN_RELATION_BELOW] = INSN_RELATION_ABOVE_EQUAL,
		[INSN_RELATION_BELOW_EQUAL] = INSN_RELATION_ABOVE,
		[INSN_RELATION_ABOVE] = INSN_RELATION_BELOW_EQUAL,
		[INSN_RELATION_ABOVE_EQUAL] = INSN_RELATION_BELOW,
		[INSN_RELATION_LESS] = INSN_RELATION_GREATER_EQUAL,
		[INSN_RELATION_LESS_EQUAL] = INSN_RELATION_GREATER,
		[INSN_RELATION_GREATER] = INSN_RELATION_LESS_EQUAL,
		[INSN_RELATION_GREATER_EQUAL] = INSN_RELATION_LESS,
	};

	return opposites[relation];
}

uint8_t insn_effect_jump_register(const struct insn_decoder *decoder, const struct insn *jump)
{
	const struct insn_effect_isa *isa = isa_of(decoder);

	return isa != NULL ? isa->jump_register(jump) : INSN_REG_NONE;
}

bool insn_effect_is_result(const struct insn_decoder *decoder, uint8_t reg)
{
	const struct insn_effect_isa *isa = isa_of(decoder);

	return isa != NULL && reg < 32 && (isa->results >> reg & 1) != 0;
}

bool insn_effect_is_saved(const struct insn_decoder *decoder, uint8_t reg)
{
	const struct insn_effect_isa *isa = isa_of(decoder);

	return isa != NULL && reg < 32 && (isa->saved >> reg & 1) != 0;
}

bool insn_effect_stack(const struct insn_decoder *decoder, const struct insn *insn, int64_t *delta)
{
	const struct insn_effect_isa *isa = isa_of(decoder);

	return isa != NULL && isa->stack(insn, delta);
}

bool insn_effect_leaves(const struct insn_decoder *decoder, const struct insn *insn)
{
	const struct insn_effect_isa *isa = isa_of(decoder);

	return isa != NULL && isa->leaves != NULL && isa->leaves(insn);
}
