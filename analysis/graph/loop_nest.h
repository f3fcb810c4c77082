/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The nested loops of a graph: strongly connected components of it, and, recursively, of each
 * component without the edges back to its entries.
 *
 * So loops with several entries are loops, too (Steensgaard's nesting; compared with others by
 * Ramalingam, "On loops, dominators, and dominance frontiers", 2002).
 */
#ifndef DCPI_LOOP_NEST_H
#define DCPI_LOOP_NEST_H

#include "analysis/graph/cfg.h"

#define LOOP_NEST_NONE UINT32_MAX
#define LOOP_NEST_DEPTH_MAX 64

/**
 * struct loop_nest_loop - a loop
 * @parent: the next outer loop, or LOOP_NEST_NONE
 * @header: the only block where it is entered; LOOP_NEST_NONE: it has several entries
 */
struct loop_nest_loop {
	uint32_t parent;
	uint32_t header;
};

/**
 * struct loop_nest - the loops of a graph, outer loops before inner ones
 * @of_block: the innermost loop that contains each block, or LOOP_NEST_NONE
 */
struct loop_nest {
	struct loop_nest_loop *loops;
	uint32_t *of_block;
	uint32_t count;
};

/**
 * loop_nest_create() - find the loops of a graph, O((blocks + edges) x depth of loops)
 * @ret: out; freed by loop_nest_deinit()
 *
 * Loops deeper than LOOP_NEST_DEPTH_MAX are not distinguished.
 *
 * Return: 0 or -ENOMEM.
 */
int loop_nest_create(struct loop_nest *ret, const struct cfg *cfg);

void loop_nest_deinit(struct loop_nest *nest);

/**
 * loop_nest_iteration_block() - find a block that each iteration of a loop executes once
 * @ret: out: the header. If the loop has several entries: a block outside its inner loops that all
 *       of its cycles contain, apart from the cycles of inner loops; LOOP_NEST_NONE: none was found
 *
 * Compilers rotate loops that begin with a condition, and enter them in several places.
 *
 * O(blocks + edges), times a bounded number of blocks that are tried. Return: 0 or -ENOMEM.
 */
int loop_nest_iteration_block(uint32_t *ret, const struct loop_nest *nest, const struct cfg *cfg,
			      uint32_t loop);

/**
 * loop_nest_contains() - return true if a node is a block of a loop or of one of its inner loops
 * @node: end of an edge
 */
static inline bool loop_nest_contains(const struct loop_nest *nest, const struct cfg *cfg,
				      uint32_t loop, uint32_t node)
{
	uint32_t at = node < cfg->block_count ? nest->of_block[node] : LOOP_NEST_NONE;

	while (at != LOOP_NEST_NONE && at > loop)
		at = nest->loops[at].parent;
	return at == loop;
}

#endif
