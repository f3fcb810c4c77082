/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What integer registers have in them, as far as code alone tells: a constant, or what
 * something else is, and a constant added to that; and so do the slots of the stack frame that
 * registers are spilled to, or where variables are that are not optimized. Global value numbering
 * (Alpern, Wegman and Zadeck, "Detecting equality of variables in programs", POPL 1988) of
 * registers and sums, going forward.
 *
 * As jump_value.h, it takes registers that calls may change to be as they were, unless they
 * hold results: what is used behind a call was kept by it. Slots are changed only by what names
 * them; those whose address is taken are none.
 */
#ifndef DCPI_REGISTER_VALUE_H
#define DCPI_REGISTER_VALUE_H

#include "analysis/graph/cfg.h"
#include "analysis/insn/insn_effect.h"

/* Places: integer registers, then slots of the stack frame. */
#define REGISTER_VALUE_REGISTERS 32
#define REGISTER_VALUE_SLOTS_MAX 32
#define REGISTER_VALUE_PLACES_MAX (REGISTER_VALUE_REGISTERS + REGISTER_VALUE_SLOTS_MAX)
/* Graphs of more blocks have no values: they would take too much memory. */
#define REGISTER_VALUE_BLOCKS_MAX 8192

/* Symbols: of constants, and of values that no code leads to. */
#define REGISTER_VALUE_CONSTANT UINT64_C(0)
#define REGISTER_VALUE_NEVER UINT64_MAX

/**
 * struct register_value - @symbol + @offset
 * @symbol: two values with the same one, at one time, differ by their offsets
 * @bytes:  so many of the lowest are known; of values of 4 bytes the rest is an extension,
 *          by 0 or by the sign
 */
struct register_value {
	uint64_t symbol;
	int64_t offset;
	uint8_t bytes;
};

/**
 * struct register_slot - what code spills registers to
 * @symbol, @offset: its address
 */
struct register_slot {
	uint64_t symbol;
	int64_t offset;
	uint8_t bytes;
};

/**
 * struct register_values - of a graph
 * @in, @out: of each block and place, where it begins and where it ends: place p of block b
 *            has the index b * @places + p
 */
struct register_values {
	const struct cfg *cfg;
	struct register_value *in;
	struct register_value *out;
	struct register_slot slots[REGISTER_VALUE_SLOTS_MAX];
	uint32_t slot_count;
	uint32_t places;
};

/**
 * struct register_test - what the branch at the end of a block compares
 * @relation: of @left to @right, if the branch is taken
 * @bytes:    width
 */
struct register_test {
	struct register_value left;
	struct register_value right;
	enum insn_relation relation;
	uint8_t bytes;
};

/**
 * register_values_find() - of registers; O(instructions x (2 + depth of loops)), as a rule
 * @ret: out; freed by register_values_deinit()
 * @cfg: stays the caller's, and is used later on
 *
 * Return: 0; -ENOMEM; -E2BIG: of more blocks than REGISTER_VALUE_BLOCKS_MAX.
 */
int register_values_find(struct register_values *ret, const struct cfg *cfg);

/**
 * register_values_add_slots() - of slots as well, and of registers anew
 *
 * At most REGISTER_VALUE_SLOTS_MAX of those that code stores to. As long as finding the values
 * again.
 *
 * Return: 1; 0: there are none; -ENOMEM.
 */
int register_values_add_slots(struct register_values *values);

void register_values_deinit(struct register_values *values);

/** register_values_test() - Return: whether the block ends in a branch that compares registers. */
bool register_values_test(struct register_test *ret, const struct register_values *values,
			  uint32_t block);

/** register_value_of_block() - the symbol of what comes into a block in a place, if ways differ. */
static inline uint64_t register_value_of_block(uint32_t block, uint32_t place)
{
	return UINT64_C(1) << 63 | (uint64_t)block << 8 | place;
}

/** register_value_place() - the place in the symbol of a block's value. */
static inline uint32_t register_value_place(uint64_t symbol)
{
	return symbol & UINT8_MAX;
}

#endif
