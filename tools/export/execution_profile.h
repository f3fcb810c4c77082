/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Execution counts of blocks and edges of one image, by which compilers and linkers optimise. The
 * counts are results of the analysis (analysis/frequency/), so no hardware branch records are
 * needed.
 */
#ifndef DCPI_EXECUTION_PROFILE_H
#define DCPI_EXECUTION_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/procedure_analysis.h"

struct image_code;

/**
 * struct execution_block - straight-line code; addresses are ELF virtual addresses
 * @first, @last: addresses of the first and the last instruction
 * @instructions: number of instructions
 * @count:        executions in the profiled period, > 0
 */
struct execution_block {
	uint64_t first;
	uint64_t last;
	uint32_t instructions;
	uint64_t count;
};

/** struct execution_way - an edge from an instruction to another, executed @count > 0 times */
struct execution_way {
	uint64_t from;
	uint64_t to;
	uint64_t count;
};

/** struct execution_ways - a growing array */
struct execution_ways {
	struct execution_way *list;
	size_t count;
	size_t capacity;
};

/**
 * struct execution_profile - zero-initialised: empty; procedure by procedure, in order of address
 * @code:     the image, for exporters that look up its contents; owned by the caller
 * @blocks:   blocks known to have run
 * @branches: taken branches, jumps, and direct calls
 * @nexts:    fall-through edges from the last instruction of a block to the first one of the next
 */
struct execution_profile {
	struct image_code *code;
	struct execution_block *blocks;
	size_t block_count;
	size_t block_capacity;
	struct execution_ways branches;
	struct execution_ways nexts;
};

/**
 * execution_profile_add() - add a procedure; counts that round to 0 are omitted. Return: 0 or
 * -ENOMEM
 */
int execution_profile_add(struct execution_profile *profile,
			  const struct procedure_analysis *analysis);

void execution_profile_deinit(struct execution_profile *profile);

#endif
