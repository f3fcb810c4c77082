/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A control-flow graph as a Markov chain: given the probability of each way out of each
 * node, how often the nodes are visited for each execution of the procedure, and how
 * that depends on the probabilities. Flow is conserved whatever these are, which is why
 * estimating them needs no constraints.
 *
 * Nodes are the graph's blocks, then CFG_UNKNOWN, then CFG_ENTRY; CFG_EXIT is none.
 * Edges are the graph's, by their indices.
 */
#ifndef DCPI_FLOW_CHAIN_H
#define DCPI_FLOW_CHAIN_H

#include "analysis/graph/cfg.h"

#define FLOW_CHAIN_EXIT UINT32_MAX

struct flow_chain_solver;

/**
 * struct flow_chain - read only
 * @from, @to: of each edge, nodes; @to may be FLOW_CHAIN_EXIT
 * @first, @count: of each node: edges @first .. @first + @count - 1 leave it
 * @node_count: the last node is @entry
 */
struct flow_chain {
	uint32_t *from;
	uint32_t *to;
	uint32_t *first;
	uint32_t *count;
	uint32_t node_count;
	uint32_t edge_count;
	uint32_t entry;
	struct flow_chain_solver *solver;
};

/**
 * flow_chain_create() - of a graph
 * @ret: out; freed by flow_chain_destroy()
 *
 * Return: 0 or -ENOMEM.
 */
int flow_chain_create(struct flow_chain **ret, const struct cfg *cfg);

/** flow_chain_destroy() - free. NULL is fine. */
void flow_chain_destroy(struct flow_chain *chain);

/**
 * flow_chain_set() - set the probabilities
 * @probability: of each edge, > 0; those out of a node add up to 1
 *
 * Code that never leaves is taken to leave once in 10^9 steps.
 *
 * Return: 0; -ENOMEM; -EDOM the chain can't be solved (never, but for rounding).
 */
int flow_chain_set(struct flow_chain *chain, const double *probability);

/**
 * flow_chain_visits() - visits to each node for one to the entry
 * @nodes: out
 *
 * Between flow_chain_set() and the next. O(nodes + edges) where loops nest properly.
 */
void flow_chain_visits(struct flow_chain *chain, double *nodes);

/**
 * flow_chain_flows() - visits to each node for flow that begins anywhere
 * @nodes: in: how much begins at each node; out: visits. @count arrays, one behind the other
 */
void flow_chain_flows(struct flow_chain *chain, double *nodes, size_t count);

/**
 * flow_chain_values() - what a visit to each node is worth with all that follows from it
 * @nodes: in: the worth of each visit alone; out
 */
void flow_chain_values(struct flow_chain *chain, double *nodes);

#endif
