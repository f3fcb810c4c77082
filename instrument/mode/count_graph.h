/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Choose the edges to count, so that the execution counts of all blocks and edges of a procedure
 * are known and as few counters as possible are updated. They are the chords of a maximum spanning
 * tree (Knuth 1973; Ball and Larus, "Optimally profiling and tracing programs", 1994). The counts
 * of the tree's edges follow from flow conservation: a node is left as often as it is entered.
 *
 * Flow conservation fails where control leaves a procedure in its middle: exit, longjmp,
 * exceptions, fork. A call therefore ends its node and is an edge to the outside node; the return
 * of the call is an edge from the outside node. The outside node is the only one whose flow need
 * not balance, so counts are exact regardless of the behaviour of calls. Calls of procedures that
 * always return exactly once may be treated as plain instructions.
 *
 * Indirect jumps that share a target are joined by one hub node between the jumps and their
 * targets. The edge from a jump to a target is counted only if the hub has a single jump.
 */
#ifndef DCPI_INSTRUMENT_COUNT_GRAPH_H
#define DCPI_INSTRUMENT_COUNT_GRAPH_H

#include "analysis/graph/cfg.h"

#define COUNT_OUTSIDE UINT32_MAX /* the outside node, as an end of an edge */
#define COUNT_NONE UINT32_MAX

/** enum count_edge_kind - reason why control takes an edge. */
enum count_edge_kind {
	COUNT_ENTER,	/* procedure entry */
	COUNT_CALL,	/* a call */
	COUNT_BACK,	/* return of a call */
	COUNT_NEXT,	/* fall-through */
	COUNT_TAKEN,	/* conditional branch taken */
	COUNT_JUMP,	/* direct jump */
	COUNT_TO_HUB,	/* indirect jump to its hub */
	COUNT_FROM_HUB, /* hub to target */
	COUNT_CATCH,	/* exception caught */
	COUNT_LEAVE,	/* return, tail call, trap */
};

/** enum count_place - position of an edge's counter. */
enum count_place {
	COUNT_NOWHERE,	/* the edge has no counter */
	COUNT_AT_START, /* at the start of the destination node */
	COUNT_AT_END,	/* at the end of the source node, before its control transfer */
	COUNT_ON_EDGE,	/* in code of its own on the edge */
};

/**
 * struct count_node - instructions that always execute one after the other
 * @block: block of the control-flow graph; COUNT_NONE: this node is a hub
 * @first, @count: range of instructions; empty for a hub, and between a call and the block's end
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
 * @cfg_edge: the same edge in the control-flow graph; COUNT_NONE: none, or a sum of several edges
 * @counter:  number of its counter, or COUNT_NONE
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
 * @node_of: first node of each reached block; COUNT_NONE for other blocks
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
 * count_graph_create() - build the graph and choose the edges to count
 * @ret:     out; freed by count_graph_deinit()
 * @cfg:     has no missing edges; must outlive @ret
 * @returns: return true if a call always returns, exactly once; NULL: this is known of no call
 *
 * Counters are numbered from 0. O(edges log edges).
 *
 * Return: 0 or -ENOMEM.
 */
int count_graph_create(struct count_graph *ret, const struct cfg *cfg,
		       bool (*returns)(void *context, const struct insn *call), void *context);

void count_graph_deinit(struct count_graph *graph);

#endif
