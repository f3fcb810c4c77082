/* SPDX-License-Identifier: GPL-2.0-only */
/* The call graph, as needed to derive register conventions. Internal to reg_summary.c. */
#ifndef DCPI_INSTRUMENT_REG_SUMMARY_GRAPH_H
#define DCPI_INSTRUMENT_REG_SUMMARY_GRAPH_H

#include "instrument/clone/candidate.h"
#include "instrument/clone/reg_summary_flow.h"

/* Callees that are not candidates: numbers from REG_SUMMARY_UNKNOWN on. */
#define REG_SUMMARY_OUTSIDE UINT32_MAX	     /* outside the image, follows the ABI */
#define REG_SUMMARY_POINTER (UINT32_MAX - 1) /* through a pointer: normally the same */
#define REG_SUMMARY_UNKNOWN                                                                        \
	(UINT32_MAX - 2) /* unknown: may read all registers, and may preserve all */

#define REG_SUMMARY_BEGINNING UINT32_MAX

/**
 * struct reg_summary_callee - destination of a call
 * @number: a candidate, or REG_SUMMARY_UNKNOWN, _POINTER, _OUTSIDE
 * @block:  of the candidate; REG_SUMMARY_BEGINNING
 */
struct reg_summary_callee {
	uint32_t number;
	uint32_t block;
};

/**
 * struct reg_summary_node - a candidate
 * @flow:   summary of its code, if @known: its graph is complete
 * @first:  its first call in reg_summary_graph.callees
 * @unknown_callers:   code that could not be analysed may call it
 * @joined: calls or jumps of other candidates lead to blocks after its start
 */
struct reg_summary_node {
	struct reg_summary_flow flow;
	size_t first;
	bool known;
	bool unknown_callers;
	bool joined;
};

/**
 * struct reg_summary_graph - zero-initialised is empty; freed by reg_summary_graph_deinit()
 * @callees: for each call of each candidate
 * @callers: for candidate n from @first_caller[n] on
 * @most:    largest number of calls of one candidate
 */
struct reg_summary_graph {
	const struct candidates *candidates;
	struct reg_summary_node *nodes;
	struct reg_summary_callee *callees;
	uint32_t *callers;
	size_t *first_caller;
	size_t most;
};

/** reg_summary_graph_find() - build the graph. Return: 0 or -ENOMEM. */
int reg_summary_graph_find(struct reg_summary_graph *ret, const struct candidates *candidates);

void reg_summary_graph_deinit(struct reg_summary_graph *graph);

/**
 * reg_summary_graph_order() - order candidates so that callees precede callers, except in cycles
 * @ret: room for all candidates
 *
 * Return: 0 or -ENOMEM.
 */
int reg_summary_graph_order(const struct reg_summary_graph *graph, uint32_t *ret);

static inline const struct cfg *reg_summary_graph_cfg(const struct reg_summary_graph *graph,
						      uint32_t number)
{
	return graph->candidates->all[number].cfg;
}

/** reg_summary_graph_callee() - return the callee of a call in a candidate's graph */
static inline const struct reg_summary_callee *
reg_summary_graph_callee(const struct reg_summary_graph *graph, uint32_t number, uint32_t call)
{
	return &graph->callees[graph->nodes[number].first + call];
}

#endif
