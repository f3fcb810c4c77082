/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often control went where in one image: what compilers and linkers optimise by. The
 * counts are what the analysis says of executions (analysis/frequency/), so no branch need
 * have been recorded by the machine.
 */
#ifndef DCPI_EXECUTION_PROFILE_H
#define DCPI_EXECUTION_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/procedure_analysis.h"

struct image_code;

/**
 * struct execution_block - instructions that run one after the other; addresses are ELF's
 * @first, @last: the first and last instruction's
 * @instructions: how many
 * @count:        executions in the profiled period, > 0
 */
struct execution_block {
	uint64_t first;
	uint64_t last;
	uint32_t instructions;
	uint64_t count;
};

/** struct execution_way - from an instruction to another one, @count > 0 times. */
struct execution_way {
	uint64_t from;
	uint64_t to;
	uint64_t count;
};

/** struct execution_ways - a growing array. */
struct execution_ways {
	struct execution_way *list;
	size_t count;
	size_t capacity;
};

/**
 * struct execution_profile - zero-initialised is empty; procedure by procedure, in order of address
 * @code:     the image, for who looks something up; the caller's
 * @blocks:   of what is known to have run
 * @branches: taken branches, jumps, and direct calls
 * @nexts:    from the last instruction of a block to the next one's first, no branch taken
 */
struct execution_profile {
	struct image_code *code;
	struct execution_block *blocks;
	size_t block_count;
	size_t block_capacity;
	struct execution_ways branches;
	struct execution_ways nexts;
};

/** execution_profile_add() - add a procedure; what rounds to no execution is left out. 0; -ENOMEM.
 */
int execution_profile_add(struct execution_profile *profile,
			  const struct procedure_analysis *analysis);

void execution_profile_deinit(struct execution_profile *profile);

#endif
