/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where to count, so that all blocks and edges of a procedure are known and as little as
 * possible is counted: on the chords of a maximum spanning tree (Knuth 1973; Ball and
 * Larus, "Optimally profiling and tracing programs", 1994). What the tree's edges were is
 * solved for afterwards, since as often as a node is entered it is left.
 *
 * That fails where control leaves a procedure in its middle: exit, longjmp, exceptions,
 * fork. So a call ends its node, and is an edge to the world outside; coming back is an
 * edge from there. The world outside is the one node whose flow need not balance. Counts
 * are then exact whatever calls do. Calls of procedures that always come back, once, may
 * be taken for plain instructions.
 *
 * The targets of indirect jumps that share some get one node between jumps and targets:
 * which jump led to which is counted only if there is just one.
 */
#ifndef DCPI_INSTRUMENT_COUNT_GRAPH_H
#define DCPI_INSTRUMENT_COUNT_GRAPH_H

#include "analysis/graph/cfg.h"

#define COUNT_OUTSIDE UINT32_MAX /* as the end of an edge */
#define COUNT_NONE UINT32_MAX

/** enum count_edge_kind - what leads this way. */
enum count_edge_kind {
	COUNT_ENTER,	/* the procedure is called */
	COUNT_CALL,	/* it calls */
	COUNT_BACK,	/* a call has come back */
	COUNT_NEXT,	/* on to what follows */
	COUNT_TAKEN,	/* a conditional branch is taken */
	COUNT_JUMP,	/* a direct jump */
	COUNT_TO_HUB,	/* an indirect jump */
	COUNT_FROM_HUB, /* where it led */
	COUNT_CATCH,	/* an exception that was thrown further in */
	COUNT_LEAVE,	/* return, tail call, trap */
};

/** enum count_place - where an edge's counter is. */
enum count_place {
	COUNT_NOWHERE,	/* it has none */
	COUNT_AT_START, /* of the node it leads to */
	COUNT_AT_END,	/* of the node it comes from, before what makes control go */
	COUNT_ON_EDGE,	/* on code of its own */
};

/**
 * struct count_node - instructions that always execute one after the other
 * @block: of the graph; COUNT_NONE: a hub
 * @first, @count: its instructions; none of a hub, and between a call and a block's end
 */
struct count_node {
	uint32_t block;
	uint32_t first;
	uint32_t count;
	uint32_t in_count;
	uint32_t out_count;
};

/**
 * struct count_edge - an edge
 * @cfg_edge: the edge of the graph that it is; COUNT_NONE: none, or the sum of several
 * @counter:  its number, or COUNT_NONE
 */
struct count_edge {
	uint32_t from;
	uint32_t to;
	uint32_t cfg_edge;
	uint32_t counter;
	double weight;
	enum count_edge_kind kind;
	enum count_place place;
};

/**
 * struct count_graph - zero-initialised is empty; freed by count_graph_deinit()
 * @nodes: in order of instructions, hubs last
 * @node_of: of each block that is reached, its first node; COUNT_NONE of others
 */
struct count_graph {
	const struct cfg *cfg;
	struct count_node *nodes;
	struct count_edge *edges;
	uint32_t *node_of;
	uint32_t node_count;
	uint32_t edge_count;
	uint32_t counter_count;
	size_t node_capacity;
	size_t edge_capacity;
};

/**
 * count_graph_create() - make the graph and choose what is counted
 * @ret:     out; freed by count_graph_deinit()
 * @cfg:     without missing edges; must outlive it
 * @returns: whether a call always comes back, once; NULL: no call is known to
 *
 * Counters are numbered from 0. O(edges log edges). Return: 0 or -ENOMEM.
 */
int count_graph_create(struct count_graph *ret, const struct cfg *cfg,
		       bool (*returns)(void *context, const struct insn *call), void *context);

void count_graph_deinit(struct count_graph *graph);

#endif
