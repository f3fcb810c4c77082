/* SPDX-License-Identifier: GPL-2.0-only */
/* Control-flow graphs made from lists of edges, for unit tests of graph algorithms. */
#ifndef DCPI_TESTS_CFG_FIXTURE_H
#define DCPI_TESTS_CFG_FIXTURE_H

#include "analysis/graph/cfg.h"

/** struct cfg_fixture_edge - ends of an edge: blocks, or CFG_ENTRY, CFG_EXIT, CFG_UNKNOWN */
struct cfg_fixture_edge {
	uint32_t from;
	uint32_t to;
};

/**
 * cfg_fixture_create() - make a graph
 * @insn_counts: instructions of each block, > 0; NULL: one each
 * @edges:       in any order; edges with the same ends are parallel edges
 *
 * Instructions are 4 bytes of INSN_ALU of x86-64 without registers, starting at address 0x1000. The
 * last instruction of a block has the flow that matches the block's edges. Kinds of edges follow
 * from their ends and number. The test aborts if memory runs out.
 *
 * Return: a graph, freed by cfg_fixture_destroy(), not by cfg_destroy().
 */
struct cfg *cfg_fixture_create(const uint32_t *insn_counts, uint32_t block_count,
			       const struct cfg_fixture_edge *edges, uint32_t edge_count);

/** cfg_fixture_edge() - the index of the first edge between two ends; UINT32_MAX: none */
uint32_t cfg_fixture_edge(const struct cfg *cfg, uint32_t from, uint32_t to);

/** cfg_fixture_destroy() - free a graph; NULL is allowed */
void cfg_fixture_destroy(struct cfg *cfg);

#endif
