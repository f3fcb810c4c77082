/* SPDX-License-Identifier: GPL-2.0-only */
/* Graphs by chance, of any shape, for tests of where checks between two copies are. */
#ifndef DCPI_TESTS_TURN_GRAPH_H
#define DCPI_TESTS_TURN_GRAPH_H

#include "analysis/graph/cfg.h"

#define TURN_GRAPH_NODES 16
#define TURN_GRAPH_EDGES 40
#define TURN_GRAPH_INSNS 24 /* of a block */

/**
 * struct turn_graph - nodes with edges
 * @first, @targets: as of struct strong_graph; the node behind the last one is elsewhere
 * @from: of each edge
 */
struct turn_graph {
	uint32_t first[TURN_GRAPH_NODES + 1];
	uint32_t targets[TURN_GRAPH_EDGES];
	uint32_t from[TURN_GRAPH_EDGES];
	uint32_t nodes;
};

void turn_graph_make(struct turn_graph *graph, uint64_t *random);

/** turn_graph_is_on_circle() - whether a node is on a circle of edges that are not @gone. */
bool turn_graph_is_on_circle(const struct turn_graph *graph, const bool *gone, uint32_t node);

/**
 * struct turn_blocks - a graph of blocks
 *
 * Of each block all instructions are alike: some refer to memory, some call. Some edges are
 * cases of a switch.
 */
struct turn_blocks {
	struct turn_graph graph;
	struct cfg cfg;
	struct cfg_block all[TURN_GRAPH_NODES];
	struct cfg_edge edges[TURN_GRAPH_EDGES + 1];
	uint32_t in_edges[TURN_GRAPH_EDGES + 1];
	struct insn insns[TURN_GRAPH_NODES * TURN_GRAPH_INSNS];
};

/** turn_blocks_make() - blocks of one instruction. */
void turn_blocks_make(struct turn_blocks *blocks, uint64_t *random);

/** turn_blocks_make_longer() - of several ones. */
void turn_blocks_make_longer(struct turn_blocks *blocks, uint64_t *random);

/** turn_blocks_is_event() - whether an instruction refers to memory; @context: the blocks. */
bool turn_blocks_is_event(void *context, uint32_t insn);

#endif
