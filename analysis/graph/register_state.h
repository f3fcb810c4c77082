/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values of registers and slots at one point, and the effects of instructions on them. Internal to
 * register_value.c, except for the comparisons of
 * branches.
 */
#ifndef DCPI_REGISTER_STATE_H
#define DCPI_REGISTER_STATE_H

#include "analysis/graph/register_value.h"

/** struct register_state - the values at one point of the code */
struct register_state {
	const struct register_values *values;
	struct register_value places[REGISTER_VALUE_PLACES_MAX];
};

static inline bool register_value_same(const struct register_value *a,
				       const struct register_value *b)
{
	return a->symbol == b->symbol && a->offset == b->offset && a->bytes == b->bytes;
}

/** register_state_begin() - set the values at the beginning of a block. */
void register_state_begin(struct register_state *ret, const struct register_values *values,
			  uint32_t block);

/** register_state_pass() - update the values after an instruction. */
void register_state_pass(struct register_state *state, uint32_t insn);

/**
 * register_state_pass_block() - update the values from a block's beginning to its end
 *
 * Return: true if the block ends in a branch that compares known values; @test describes it.
 */
bool register_state_pass_block(struct register_state *state, struct register_test *test,
			       uint32_t block);

/**
 * register_state_find_test() - find the comparison of the branch at the end of a block
 * @at: out: the instruction that compares
 *
 * Return: true if the block ends in a branch whose comparison is known.
 */
bool register_state_find_test(struct insn_test *ret, uint32_t *at, const struct cfg *cfg,
			      const struct cfg_block *block);

/**
 * register_state_find_comparison() - find the instruction that compares for a block's branch
 * @at: out
 *
 * Unlike register_state_find_test() this includes comparisons with memory in an unknown order.
 */
bool register_state_find_comparison(uint32_t *at, const struct cfg *cfg,
				    const struct cfg_block *block);

/**
 * register_state_slot() - find the stack slot of an instruction's memory operand
 *
 * The address may be based on the stack pointer or on a value derived from it.
 *
 * Return: true if the operand is in the stack frame.
 */
bool register_state_slot(struct register_slot *ret, const struct register_state *state,
			 const struct insn *insn);

/** register_slot_place() - Return: the place of a slot, or REGISTER_VALUE_PLACES_MAX. */
uint32_t register_slot_place(const struct register_values *values,
			     const struct register_slot *slot);

#endif
