/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an instruction computes, in as few words as it takes to understand how
 * compilers look a jump's target up in a table: constants, sums, loads, masks,
 * extensions, and comparisons with constants.
 */
#ifndef DCPI_INSN_EFFECT_H
#define DCPI_INSN_EFFECT_H

#include "analysis/insn/insn.h"

/* What registers do: sums and products that don't fit go round. */
static inline int64_t insn_sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t insn_product(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

/** insn_low() - the low @bytes of a value, 1 .. 8, extended by 0 or by the sign. */
static inline int64_t insn_low(int64_t value, unsigned int bytes, bool is_signed)
{
	unsigned int shift = bytes < 8 ? 64 - 8 * bytes : 0;
	uint64_t high = (uint64_t)value << shift;

	return is_signed ? (int64_t)high >> shift : (int64_t)(high >> shift);
}

/** enum insn_effect_kind - how the value of the destination comes about. */
enum insn_effect_kind {
	INSN_EFFECT_OTHER,    /* not told here */
	INSN_EFFECT_CONSTANT, /* @constant */
	INSN_EFFECT_SUM,      /* base + (index << scale) + constant, each of the two optional */
	INSN_EFFECT_LOAD,     /* from the memory operand */
	INSN_EFFECT_STORE,    /* of @base, or else @constant, to the memory operand */
	INSN_EFFECT_STEP,     /* @constant is added to the memory operand */
	INSN_EFFECT_AND,      /* base & constant */
	INSN_EFFECT_SHIFT,    /* base >> constant, unsigned */
	INSN_EFFECT_EXTEND,   /* the low @bytes of base */
};

/**
 * struct insn_effect - an effect
 * @destination: register; INSN_REG_NONE: none, or memory
 * @base, @index: registers, or INSN_REG_NONE
 * @scale:       shift of the index
 * @bytes:       width of what is loaded, stored or extended; of the others, of the whole
 *               operation (what is wider is cut off)
 * @is_signed:   loads and extensions: by the sign; sums without @index_bytes: what is cut off
 *               is replaced by it
 * @index_bytes: of sums: if not 0, so many bytes of @index are extended first, by
 *               @is_signed
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

/** insn_effect_get() - of an instruction that is no branch, or links. */
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

/** insn_effect_compare() - Return: whether it is such a comparison. */
bool insn_effect_compare(struct insn_compare *ret, const struct insn_decoder *decoder,
			 const struct insn *insn);

/**
 * insn_effect_branch_input() - what a conditional branch looks at
 *
 * Return: a register (a flag, or, on Alpha, an integer register) that the comparison
 * writes; INSN_REG_NONE: the branch compares nothing.
 */
uint8_t insn_effect_branch_input(const struct insn_decoder *decoder, const struct insn *branch);

/** enum insn_bound_kind - how good a bound is. */
enum insn_bound_kind {
	INSN_BOUND_NONE,
	INSN_BOUND_RANGE,  /* of an unsigned comparison */
	INSN_BOUND_SIGNED, /* of a signed one: if the value isn't below @low */
	INSN_BOUND_EXACT,  /* it is one value */
};

/** struct insn_bound - a value is in [@low, @high]; of unsigned ones >= 2^31 or so, < 0. */
struct insn_bound {
	enum insn_bound_kind kind;
	int64_t low;
	int64_t high;
};

/**
 * insn_effect_bound() - what a branch says of what was compared
 * @taken: whether it was
 */
struct insn_bound insn_effect_bound(const struct insn_decoder *decoder, const struct insn *compare,
				    const struct insn *branch, bool taken);

/** insn_effect_jump_register() - where an indirect jump goes; INSN_REG_NONE: to a loaded address.
 */
uint8_t insn_effect_jump_register(const struct insn_decoder *decoder, const struct insn *jump);

/** insn_effect_is_result() - whether calls return values in a register, by the ABI. */
bool insn_effect_is_result(const struct insn_decoder *decoder, uint8_t reg);

/** insn_effect_is_saved() - whether calls leave a register as it was, by the ABI. */
bool insn_effect_is_saved(const struct insn_decoder *decoder, uint8_t reg);

/**
 * insn_effect_stack() - how far an instruction moves the stack pointer by itself
 * @delta: out: bytes up
 *
 * Return: false: it doesn't, or insn_effect_get() tells how.
 */
bool insn_effect_stack(const struct insn_decoder *decoder, const struct insn *insn, int64_t *delta);

/** insn_effect_leaves() - whether it sets the stack pointer from the frame pointer and pops that.
 */
bool insn_effect_leaves(const struct insn_decoder *decoder, const struct insn *insn);

/** enum insn_relation - of what is compared to what it is compared with. */
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

/* In place of a register: the memory operand. */
#define INSN_TEST_MEMORY 254

/**
 * struct insn_test - what a conditional branch depends on: two values that are compared
 * @relation: of @left to @right, if the branch is taken
 * @left:     register or INSN_TEST_MEMORY
 * @right:    likewise; INSN_REG_NONE: @constant
 * @bytes:    width of the comparison
 * @after:    @left has what the compared value is behind the instruction that compares, and
 *            not before it
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
 * insn_effect_test() - what a branch tests
 * @setter: the last instruction before that wrote what the branch reads; NULL: is it a
 *          branch that looks at a register itself?
 *
 * Results of additions and subtractions are taken not to overflow.
 *
 * Return: whether it is known.
 */
bool insn_effect_test(struct insn_test *ret, const struct insn_decoder *decoder,
		      const struct insn *setter, const struct insn *branch);

/** insn_relation_is_unsigned() - whether it depends on what numbers are without a sign. */
static inline bool insn_relation_is_unsigned(enum insn_relation relation)
{
	return relation >= INSN_RELATION_BELOW && relation <= INSN_RELATION_ABOVE_EQUAL;
}

/** insn_relation_opposite() - what holds if a relation doesn't. */
enum insn_relation insn_relation_opposite(enum insn_relation relation);

/** struct insn_effect_isa - an architecture's part; see the functions above. */
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
	uint32_t saved;				 /* and that survive them */
};

extern const struct insn_effect_isa insn_effect_x86;
extern const struct insn_effect_isa insn_effect_arm64;
extern const struct insn_effect_isa insn_effect_alpha;

#endif
