/* SPDX-License-Identifier: GPL-2.0-only */
/* Random graphs of any shape, for tests of the placement of checks in the checking clone. */
#ifndef DCPI_TESTS_TURN_GRAPH_H
#define DCPI_TESTS_TURN_GRAPH_H

#include "analysis/graph/cfg.h"

#define TURN_GRAPH_NODES 16
#define TURN_GRAPH_EDGES 40
#define TURN_GRAPH_INSNS 24 /* instructions of a block */

/**
 * struct turn_graph - nodes with edges
 * @first, @targets: as in struct strong_graph; the target @nodes is outside the graph
 * @from: source node of each edge
 */
struct turn_graph {
	uint32_t first[TURN_GRAPH_NODES + 1];
	uint32_t targets[TURN_GRAPH_EDGES];
	uint32_t from[TURN_GRAPH_EDGES];
	uint32_t nodes;
};

void turn_graph_make(struct turn_graph *graph, uint64_t *random);

/** turn_graph_is_on_circle() - return true if a cycle without @gone edges contains the node */
bool turn_graph_is_on_circle(const struct turn_graph *graph, const bool *gone, uint32_t node);

/**
 * struct turn_blocks - a graph of blocks
 *
 * All instructions of a block are of one kind: in some blocks they refer to memory, in some they
 * call. Some edges are cases of a switch.
 */
struct turn_blocks {
	struct turn_graph graph;
	struct cfg cfg;
	struct cfg_block all[TURN_GRAPH_NODES];
	struct cfg_edge edges[TURN_GRAPH_EDGES + 1];
	uint32_t in_edges[TURN_GRAPH_EDGES + 1];
	struct insn insns[TURN_GRAPH_NODES * TURN_GRAPH_INSNS];
};

/** turn_blocks_make() - make blocks of one instruction */
void turn_blocks_make(struct turn_blocks *blocks, uint64_t *random);

/** turn_blocks_make_longer() - make blocks of several instructions */
void turn_blocks_make_longer(struct turn_blocks *blocks, uint64_t *random);

/** turn_blocks_is_event() - return true if an instruction refers to memory; @context: the blocks */
bool turn_blocks_is_event(void *context, uint32_t insn);

#endif
