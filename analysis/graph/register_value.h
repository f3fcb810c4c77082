/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Values of integer registers, derived from the code alone: constants, or the value of a symbol
 * plus a constant. Slots of the stack frame, to which registers are spilled or in which variables
 * live without optimization, have values of the same form. The method is global value numbering of
 * registers and sums, in forward direction (Alpern, Wegman and Zadeck, "Detecting equality of
 * variables in programs", POPL 1988).
 *
 * Like jump_value.h, it assumes that calls preserve caller-saved registers other than results:
 * registers that are used after a call were preserved by it. Slots change only by operands that
 * name them; memory whose address is taken is not treated as a slot.
 */
#ifndef DCPI_REGISTER_VALUE_H
#define DCPI_REGISTER_VALUE_H

#include "analysis/graph/cfg.h"
#include "analysis/insn/insn_effect.h"

/* Places: integer registers, then slots of the stack frame. */
#define REGISTER_VALUE_REGISTERS 32
#define REGISTER_VALUE_SLOTS_MAX 32
#define REGISTER_VALUE_PLACES_MAX (REGISTER_VALUE_REGISTERS + REGISTER_VALUE_SLOTS_MAX)
/* Larger graphs have no values, because these would take too much memory. */
#define REGISTER_VALUE_BLOCKS_MAX 8192

/* Symbols: of constants, and of values in unreachable code. */
#define REGISTER_VALUE_CONSTANT UINT64_C(0)
#define REGISTER_VALUE_NEVER UINT64_MAX

/**
 * struct register_value - @symbol + @offset
 * @symbol: two values with the same symbol, at one time, differ by their offsets
 * @bytes:  number of low bytes that are known; if 4, the others are a zero or sign extension
 */
struct register_value {
	uint64_t symbol;
	int64_t offset;
	uint8_t bytes;
};

/**
 * struct register_slot - memory of the frame that registers are spilled to
 * @symbol, @offset: its address
 */
struct register_slot {
	uint64_t symbol;
	int64_t offset;
	uint8_t bytes;
};

/**
 * struct register_values - the values of a graph
 * @in, @out: values of each place at the beginning and end of each block: place p of block b has
 *            the index b * @places + p
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
 * struct register_test - the comparison of the branch at the end of a block
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
 * register_values_find() - find the values of registers; usually O(instructions x (2 + depth of
 * loops))
 * @ret: out; freed by register_values_deinit()
 * @cfg: owned by the caller; must outlive @ret
 *
 * Return: 0; -ENOMEM; -E2BIG if there are more blocks than REGISTER_VALUE_BLOCKS_MAX.
 */
int register_values_find(struct register_values *ret, const struct cfg *cfg);

/**
 * register_values_add_slots() - find the values of slots, and again those of registers
 *
 * Covers the first REGISTER_VALUE_SLOTS_MAX slots that code stores to. Takes as long as finding the
 * values again.
 *
 * Return: 1; 0 if there are no slots; -ENOMEM.
 */
int register_values_add_slots(struct register_values *values);

void register_values_deinit(struct register_values *values);

/** register_values_test() - Return: true if a block ends in a branch that compares registers. */
bool register_values_test(struct register_test *ret, const struct register_values *values,
			  uint32_t block);

/**
 * register_value_of_block() - symbol of a place at a block's beginning, if its predecessors differ.
 */
static inline uint64_t register_value_of_block(uint32_t block, uint32_t place)
{
	return UINT64_C(1) << 63 | (uint64_t)block << 8 | place;
}

/**
 * register_value_place() - return the place that a symbol of register_value_of_block() stands for.
 */
static inline uint32_t register_value_place(uint64_t symbol)
{
	return symbol & UINT8_MAX;
}

#endif
