/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bounds of an index, derived from the comparisons on the paths to its use. Internal to the
 * resolution of jumps.
 */
#ifndef DCPI_JUMP_BOUND_H
#define DCPI_JUMP_BOUND_H

#include "analysis/graph/jump_value.h"

/**
 * struct jump_bound - the index is in [@low, @high]
 * @loose: derived from masks and shifts only; the compiler may have known a tighter bound
 */
struct jump_bound {
	int64_t low;
	int64_t high;
	bool loose;
};

/**
 * jump_bound_find() - find the bounds of a register before an instruction
 *
 * Follows every path backward, through copies, extensions, spills and additions of constants, to
 * the comparison nearest to the use. The result is the union of the bounds of all paths. Paths
 * without a comparison are ignored if others have one: a compiler makes tables as long as the
 * comparison demands, and bypasses it only with values that it knows to be inside.
 *
 * Return: 0; -ENOENT if no path has a comparison.
 */
int jump_bound_find(struct jump_bound *ret, struct jump_search *search, uint32_t insn, uint8_t reg);

#endif
