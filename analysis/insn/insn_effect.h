/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Effects of instructions, in a form that suffices to recognise compilers' jump tables: constants,
 * sums, loads, masks, extensions, and comparisons with constants.
 */
#ifndef DCPI_INSN_EFFECT_H
#define DCPI_INSN_EFFECT_H

#include "analysis/insn/insn.h"

/* Sums and products wrap around, as in registers. */
static inline int64_t insn_sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t insn_product(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

/** insn_low() - return the low @bytes bytes of a value, 1 .. 8, with zero or sign extension. */
static inline int64_t insn_low(int64_t value, unsigned int bytes, bool is_signed)
{
	unsigned int shift = bytes < 8 ? 64 - 8 * bytes : 0;
	uint64_t high = (uint64_t)value << shift;

	return is_signed ? (int64_t)high >> shift : (int64_t)(high >> shift);
}

/** enum insn_effect_kind - computation of the destination's value. */
enum insn_effect_kind {
	INSN_EFFECT_OTHER,    /* Not described. */
	INSN_EFFECT_CONSTANT, /* @constant */
	INSN_EFFECT_SUM,      /* base + (index << scale) + constant, base and index are optional. */
	INSN_EFFECT_DIFFERENCE, /* base - index, both are registers. */
	INSN_EFFECT_LOAD,	/* Load from the memory operand. */
	INSN_EFFECT_STORE,	/* Store @base, or else @constant, to the memory operand. */
	INSN_EFFECT_STEP,	/* @constant is added to the memory operand. */
	INSN_EFFECT_AND,	/* base & constant. */
	INSN_EFFECT_SHIFT,	/* base >> constant, unsigned. */
	INSN_EFFECT_EXTEND,	/* The low @bytes of base, extended. */
};

/**
 * struct insn_effect - an effect
 * @destination:  register; INSN_REG_NONE: none, or memory
 * @base, @index: registers, or INSN_REG_NONE
 * @scale:        shift of the index
 * @bytes:        width of the loaded, stored or extended value; otherwise of the whole operation,
 *                which truncates its result
 * @is_signed:    loads and extensions: sign extension; sums without @index_bytes: the truncated
 *                result is sign-extended
 * @index_bytes:  sums: if not 0, number of low bytes of @index that are extended first, according
 *                to @is_signed
 */
struct insn_effect {
	enum insn_effect_kind kind;
	uint8_t destination;
	uint8_t base;
	uint8_t index;
	uint8_t scale;
	uint8_t bytes;
	uint8_t index_bytes;
	bool is_signed;
	int64_t constant;
};

/** insn_effect_get() - return the effect of an instruction that is not a branch, or links. */
struct insn_effect insn_effect_get(const struct insn_decoder *decoder, const struct insn *insn);

/**
 * struct insn_compare - a comparison of a register or the memory operand with a constant
 * @reg:      INSN_REG_NONE: the memory operand
 * @bytes:    width
 * @constant: unsigned, of that width
 */
struct insn_compare {
	uint8_t reg;
	uint8_t bytes;
	uint64_t constant;
};

/** insn_effect_compare() - Return: true if the instruction is such a comparison. */
bool insn_effect_compare(struct insn_compare *ret, const struct insn_decoder *decoder,
			 const struct insn *insn);

/**
 * insn_effect_branch_input() - return the input of a conditional branch
 *
 * Return: a register (a flag, or, on Alpha, an integer register) that the comparison writes;
 * INSN_REG_NONE: the branch compares nothing.
 */
uint8_t insn_effect_branch_input(const struct insn_decoder *decoder, const struct insn *branch);

/** enum insn_bound_kind - quality of a bound. */
enum insn_bound_kind {
	INSN_BOUND_NONE,
	INSN_BOUND_RANGE,  /* from an unsigned comparison */
	INSN_BOUND_SIGNED, /* from a signed comparison: valid if the value is not below @low */
	INSN_BOUND_EXACT,  /* it is a single value */
};

/**
 * struct insn_bound - a value is in [@low, @high]; unsigned values near the maximum are negative.
 */
struct insn_bound {
	enum insn_bound_kind kind;
	int64_t low;
	int64_t high;
};

/**
 * insn_effect_bound() - derive a bound of the compared value from a branch
 * @taken: the branch was taken
 */
struct insn_bound insn_effect_bound(const struct insn_decoder *decoder, const struct insn *compare,
				    const struct insn *branch, bool taken);

/**
 * insn_effect_jump_register() - return the register of an indirect jump's target; INSN_REG_NONE:
 * the target is loaded.
 */
uint8_t insn_effect_jump_register(const struct insn_decoder *decoder, const struct insn *jump);

/** insn_effect_is_result() - return true if calls return values in a register, by the ABI. */
bool insn_effect_is_result(const struct insn_decoder *decoder, uint8_t reg);

/** insn_effect_is_saved() - return true if a register is callee-saved, by the ABI. */
bool insn_effect_is_saved(const struct insn_decoder *decoder, uint8_t reg);

/**
 * insn_effect_stack() - find the implicit change of the stack pointer by an instruction
 * @delta: out: change in bytes
 *
 * Return: false if there is none, or insn_effect_get() describes it.
 */
bool insn_effect_stack(const struct insn_decoder *decoder, const struct insn *insn, int64_t *delta);

/**
 * insn_effect_leaves() - return true if the instruction copies the frame pointer to the stack
 * pointer and pops the frame pointer.
 */
bool insn_effect_leaves(const struct insn_decoder *decoder, const struct insn *insn);

/** enum insn_relation - relation between the operands of a comparison. */
enum insn_relation {
	INSN_RELATION_NONE,
	INSN_RELATION_EQUAL,
	INSN_RELATION_NOT_EQUAL,
	INSN_RELATION_BELOW, /* unsigned */
	INSN_RELATION_BELOW_EQUAL,
	INSN_RELATION_ABOVE,
	INSN_RELATION_ABOVE_EQUAL,
	INSN_RELATION_LESS, /* signed */
	INSN_RELATION_LESS_EQUAL,
	INSN_RELATION_GREATER,
	INSN_RELATION_GREATER_EQUAL,
};

/* Represents the memory operand in place of a register. */
#define INSN_TEST_MEMORY 254

/**
 * struct insn_test - comparison that a conditional branch depends on
 * @relation: of @left to @right, if the branch is taken
 * @left:     register or INSN_TEST_MEMORY
 * @right:    register or INSN_TEST_MEMORY; INSN_REG_NONE: @constant
 * @bytes:    width of the comparison
 * @after:    @left has the compared value after the comparing instruction, not before it
 */
struct insn_test {
	enum insn_relation relation;
	uint8_t left;
	uint8_t right;
	uint8_t bytes;
	bool after;
	int64_t constant;
};

/**
 * insn_effect_test() - find the comparison of a branch
 * @setter: the last instruction before that wrote an input of the branch; NULL: accept only a
 *          branch that tests a register itself
 *
 * Results of additions and subtractions are assumed not to overflow.
 *
 * Return: true if it is known.
 */
bool insn_effect_test(struct insn_test *ret, const struct insn_decoder *decoder,
		      const struct insn *setter, const struct insn *branch);

/** insn_relation_is_unsigned() - return true if the relation compares unsigned numbers. */
static inline bool insn_relation_is_unsigned(enum insn_relation relation)
{
	return relation >= INSN_RELATION_BELOW && relation <= INSN_RELATION_ABOVE_EQUAL;
}

/** insn_relation_opposite() - return the relation that holds if @relation does not. */
enum insn_relation insn_relation_opposite(enum insn_relation relation);

/** struct insn_effect_isa - implementation for an architecture; see the functions above. */
struct insn_effect_isa {
	void (*get)(struct insn_effect *ret, const struct insn *insn);
	bool (*compare)(struct insn_compare *ret, const struct insn *insn);
	uint8_t (*branch_input)(const struct insn *branch);
	enum insn_relation (*relation)(const struct insn *compare, const struct insn *branch,
				       bool taken);
	bool (*test)(struct insn_test *ret, const struct insn *setter, const struct insn *branch);
	uint8_t (*jump_register)(const struct insn *jump);
	bool (*stack)(const struct insn *insn, int64_t *delta);
	bool (*leaves)(const struct insn *insn); /* may be NULL */
	uint32_t results;			 /* integer registers that calls return values in */
	uint32_t saved;				 /* callee-saved integer registers */
};

extern const struct insn_effect_isa insn_effect_x86;
extern const struct insn_effect_isa insn_effect_arm64;
extern const struct insn_effect_isa insn_effect_alpha;

#endif
