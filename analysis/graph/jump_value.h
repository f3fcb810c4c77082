/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where values come from: definitions of a register or of a place in memory that
 * reach an instruction, found by going backward through a procedure's graph.
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
 * struct jump_place - a register, or the memory that an operand names
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

/** jump_place_same() - whether two are the same, if their registers have the same values. */
bool jump_place_same(const struct jump_place *a, const struct jump_place *b);

/**
 * struct jump_search - searching one graph
 * @image: NULL: bare code
 * @entry: address
 * @seen:  of each block: the last search that was there
 * @stack: room for all blocks
 * @budget: searches left; set it for each jump
 * @work:   instructions that may still be looked at, for all jumps: far more than any
 *          compiler's code needs
 */
struct jump_search {
	const struct cfg *cfg;
	struct image_code *image;
	uint64_t entry;
	uint32_t *seen;
	uint32_t *stack;
	uint32_t round;
	uint32_t budget;
	uint64_t work;
};

/** jump_search_work() - takes one from the work. Return: false: there is none left. */
static inline bool jump_search_work(struct jump_search *search)
{
	return search->work > 0 && search->work-- > 0;
}

/** jump_search_init() - @search: freed by jump_search_deinit(). Return: 0 or -ENOMEM. */
int jump_search_init(struct jump_search *search, const struct cfg *cfg, struct image_code *image,
		     uint64_t entry);

void jump_search_deinit(struct jump_search *search);

/** enum jump_change - what an instruction does to a place. */
enum jump_change {
	JUMP_KEEPS,
	JUMP_DEFINES,  /* as insn_effect_get() says */
	JUMP_DESTROYS, /* in a way not understood */
};

/** jump_value_change() - what an instruction does to a place. */
enum jump_change jump_value_change(const struct jump_search *search, const struct insn *insn,
				   const struct jump_place *place);

/**
 * jump_value_definitions() - the instructions that may have given a place its value
 * @insn:        before which
 * @definitions: out
 *
 * Return: how many; -ENOENT not all are known, or too many.
 */
int jump_value_definitions(struct jump_search *search, uint32_t insn,
			   const struct jump_place *place,
			   uint32_t definitions[JUMP_DEFINITIONS_MAX]);

/**
 * jump_value_constant() - the value of a place before an instruction, if it is always
 * the same
 *
 * Return: 0 or -ENOENT.
 */
int jump_value_constant(struct jump_search *search, uint32_t insn, const struct jump_place *place,
			uint64_t *value);

#endif
