/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loops of a graph, one within the other: strongly connected parts of it, and, without
 * the ways back to where these are entered, of them.
 *
 * So loops that several ways lead into are loops, too (Steensgaard's nesting; Ramalingam,
 * "On loops, dominators, and dominance frontiers", 2002, compares it with others).
 */
#ifndef DCPI_LOOP_NEST_H
#define DCPI_LOOP_NEST_H

#include "analysis/graph/cfg.h"

#define LOOP_NEST_NONE UINT32_MAX
#define LOOP_NEST_DEPTH_MAX 64

/**
 * struct loop_nest_loop - a loop
 * @parent: the next one further out; LOOP_NEST_NONE: there is none
 * @header: the one block where it is entered; LOOP_NEST_NONE: there are several
 */
struct loop_nest_loop {
	uint32_t parent;
	uint32_t header;
};

/**
 * struct loop_nest - the loops of a graph, outer ones before those in them
 * @of_block: the innermost loop that each block is in, or LOOP_NEST_NONE
 */
struct loop_nest {
	struct loop_nest_loop *loops;
	uint32_t *of_block;
	uint32_t count;
};

/**
 * loop_nest_create() - O((blocks + edges) x depth of loops); those deeper than
 * LOOP_NEST_DEPTH_MAX are not told apart
 * @ret: out; freed by loop_nest_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int loop_nest_create(struct loop_nest *ret, const struct cfg *cfg);

void loop_nest_deinit(struct loop_nest *nest);

/**
 * loop_nest_contains() - whether a node is a block of a loop, or of one in it
 * @node: as ends of edges are
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
