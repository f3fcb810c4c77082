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
 * struct execution_procedure - an analysed procedure
 * @name:    malloc'd, as in the file; "" if the image has no symbol for it
 * @address: ELF virtual address
 * @bytes:   its extent, without parts that the compiler split off
 */
struct execution_procedure {
	char *name;
	uint64_t address;
	uint64_t bytes;
};

/**
 * struct execution_block - straight-line code; addresses are ELF virtual addresses
 * @first, @last: addresses of the first and the last instruction
 * @procedure:    index of the procedure that it belongs to
 * @instructions: number of instructions
 * @count:        executions in the profiled period, > 0
 */
struct execution_block {
	uint64_t first;
	uint64_t last;
	uint32_t procedure;
	uint32_t instructions;
	uint64_t count;
};

/**
 * struct execution_edge - an edge from an instruction to another
 * @procedure: index of the procedure that @from belongs to
 * @count:     executions, > 0
 */
struct execution_edge {
	uint64_t from;
	uint64_t to;
	uint32_t procedure;
	uint64_t count;
};

/** struct execution_edges - a growing array */
struct execution_edges {
	struct execution_edge *list;
	size_t count;
	size_t capacity;
};

/**
 * struct execution_profile - zero-initialised: empty; procedure by procedure
 * @code:       the image; open only while procedures are added; owned by the caller
 * @procedures: procedures that were added
 * @blocks:     blocks known to have run
 * @branches:   taken branches, jumps, and direct calls
 * @nexts:      fall-through edges from the last instruction of a block to the first one of the next
 */
struct execution_profile {
	struct image_code *code;
	struct execution_procedure *procedures;
	size_t procedure_count;
	size_t procedure_capacity;
	struct execution_block *blocks;
	size_t block_count;
	size_t block_capacity;
	struct execution_edges branches;
	struct execution_edges nexts;
};

/**
 * execution_profile_add() - add a procedure; counts that round to 0 are omitted. Return: 0 or
 * -ENOMEM
 */
int execution_profile_add(struct execution_profile *profile,
			  const struct procedure_analysis *analysis);

void execution_profile_deinit(struct execution_profile *profile);

#endif
