/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A control-flow graph as a Markov chain. Given the probability of each outgoing edge of each node,
 * compute the number of visits to each node per execution of the procedure, and the derivatives of
 * these numbers. Flow is conserved for any probabilities, so estimating them needs no constraints.
 *
 * Nodes are the graph's blocks, then CFG_UNKNOWN, then CFG_ENTRY; CFG_EXIT is not a node. Edges
 * have the indices of the graph's edges.
 */
#ifndef DCPI_FLOW_CHAIN_H
#define DCPI_FLOW_CHAIN_H

#include "analysis/graph/cfg.h"

#define FLOW_CHAIN_EXIT UINT32_MAX

struct flow_chain_solver;

/**
 * struct flow_chain - a chain; callers only read it
 * @from, @to:     nodes of each edge; @to may be FLOW_CHAIN_EXIT
 * @first, @count: edges @first .. @first + @count - 1 leave a node; one element for each node
 * @node_count:    number of nodes; the last node is @entry
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
 * flow_chain_create() - build the chain of a graph
 * @ret: out; freed by flow_chain_destroy()
 *
 * Return: 0 or -ENOMEM.
 */
int flow_chain_create(struct flow_chain **ret, const struct cfg *cfg);

/** flow_chain_destroy() - free a chain. NULL is fine. */
void flow_chain_destroy(struct flow_chain *chain);

/**
 * flow_chain_set() - set the probabilities
 * @probability: of each edge, > 0; those of a node's outgoing edges add up to 1
 *
 * Endless loops are treated as if they left once in 10^14 steps.
 *
 * Return: 0; -ENOMEM; -EDOM if the chain cannot be solved (only possible through rounding).
 */
int flow_chain_set(struct flow_chain *chain, const double *probability);

/**
 * flow_chain_visits() - compute the visits to each node per visit to the entry
 * @nodes: out
 *
 * Valid for the probabilities of the last flow_chain_set(). O(nodes + edges) where loops are
 * properly nested.
 */
void flow_chain_visits(struct flow_chain *chain, double *nodes);

/**
 * flow_chain_flows() - compute the visits to each node for flow that begins at any nodes
 * @nodes: in: flow that begins at each node; out: visits. @count consecutive arrays, each with one
 *         element for each node
 */
void flow_chain_flows(struct flow_chain *chain, double *nodes, size_t count);

/**
 * flow_chain_values() - compute the value of a visit to each node, including all later visits
 * @nodes: in: value of one visit to each node alone; out: value including later visits
 */
void flow_chain_values(struct flow_chain *chain, double *nodes);

#endif
