/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Origins of values: the definitions of a register or memory operand that reach an instruction,
 * found by a backward search through a procedure's graph.
 *
 * Internal to the resolution of jumps.
 */
#ifndef DCPI_JUMP_VALUE_H
#define DCPI_JUMP_VALUE_H

#include "analysis/graph/cfg.h"
#include "analysis/image/image_code.h"
#include "analysis/insn/insn_effect.h"

#define JUMP_DEFINITIONS_MAX 64
#define JUMP_SEARCHES_MAX 512

/**
 * struct jump_place - a register or a memory operand
 * @reg: INSN_REG_NONE: memory
 */
struct jump_place {
	struct insn_memory memory;
	uint8_t reg;
};

static inline struct jump_place jump_place_of_register(uint8_t reg)
{
	return (struct jump_place){.reg = reg};
}

static inline struct jump_place jump_place_of_memory(const struct insn_memory *memory)
{
	return (struct jump_place){.reg = INSN_REG_NONE, .memory = *memory};
}

/** jump_place_same() - return true if two places are the same, given equal registers. */
bool jump_place_same(const struct jump_place *a, const struct jump_place *b);

/**
 * struct jump_search - state of searches in one graph
 * @image:  NULL: bare code
 * @entry:  address
 * @seen:   of each block: the last search that visited it
 * @stack:  memory for all blocks
 * @budget: remaining searches; set for each jump
 * @work:   remaining instructions to visit, for all jumps: far more than any compiler's code needs
 */
struct jump_search {
	const struct cfg *cfg;
	struct image_code *image;
	uint64_t entry;
	uint32_t *seen;
	uint32_t *stack;
	uint32_t search;
	uint32_t budget;
	uint64_t work;
};

/** jump_search_work() - decrement the remaining work. Return: false if nothing remains. */
static inline bool jump_search_work(struct jump_search *search)
{
	return search->work > 0 && search->work-- > 0;
}

/** jump_search_init() - initialise @search; freed by jump_search_deinit(). Return: 0 or -ENOMEM. */
int jump_search_init(struct jump_search *search, const struct cfg *cfg, struct image_code *image,
		     uint64_t entry);

void jump_search_deinit(struct jump_search *search);

/** enum jump_change - effect of an instruction on a place. */
enum jump_change {
	JUMP_KEEPS,
	JUMP_DEFINES,  /* as described by insn_effect_get() */
	JUMP_DESTROYS, /* to an unknown value */
};

/** jump_value_change() - return the effect of an instruction on a place. */
enum jump_change jump_value_change(const struct jump_search *search, const struct insn *insn,
				   const struct jump_place *place);

/**
 * jump_value_definitions() - find the instructions that may have set a place to its value
 * @insn:        instruction before which the value is wanted
 * @definitions: out
 *
 * Return: the number of definitions; -ENOENT if not all are known, or there are too many.
 */
int jump_value_definitions(struct jump_search *search, uint32_t insn,
			   const struct jump_place *place,
			   uint32_t definitions[JUMP_DEFINITIONS_MAX]);

/**
 * jump_value_constant() - find the value of a place before an instruction, if it is constant
 *
 * Return: 0 or -ENOENT.
 */
int jump_value_constant(struct jump_search *search, uint32_t insn, const struct jump_place *place,
			uint64_t *value);

#endif
