/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between which values an index lies, by the comparisons that control passed on its
 * way to where it is used. Internal to the resolution of jumps.
 */
#ifndef DCPI_JUMP_BOUND_H
#define DCPI_JUMP_BOUND_H

#include "analysis/graph/jump_value.h"

/**
 * struct jump_bound - the index is in [@low, @high]
 * @loose: by masks and shifts only, which say less than the compiler may have known
 */
struct jump_bound {
	int64_t low;
	int64_t high;
	bool loose;
};

/**
 * jump_bound_find() - the bounds of a register before an instruction
 *
 * Every way back is followed, across copies, extensions, spills and what was added, up
 * to the comparison nearest to the use. Bounds of several ways are united. A way without
 * comparison does not count if others have one: a compiler makes tables as long as a
 * comparison demands, and jumps past it only with what it knows to lie inside.
 *
 * Return: 0; -ENOENT no way has a comparison.
 */
int jump_bound_find(struct jump_bound *ret, struct jump_search *search, uint32_t insn, uint8_t reg);

#endif
