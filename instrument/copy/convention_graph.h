/* SPDX-License-Identifier: GPL-2.0-only */
/* The call graph, as needed to derive register conventions. Internal to convention.c. */
#ifndef DCPI_INSTRUMENT_CONVENTION_GRAPH_H
#define DCPI_INSTRUMENT_CONVENTION_GRAPH_H

#include "instrument/copy/candidate.h"
#include "instrument/copy/convention_flow.h"

/* Callees that are not candidates: numbers from CONVENTION_NOBODY on. */
#define CONVENTION_OUTSIDE UINT32_MAX	    /* outside the image, follows the ABI */
#define CONVENTION_POINTER (UINT32_MAX - 1) /* through a pointer: normally the same */
#define CONVENTION_NOBODY                                                                          \
	(UINT32_MAX - 2) /* unknown: may read all registers, and may preserve all */

#define CONVENTION_BEGINNING UINT32_MAX

/**
 * struct convention_callee - destination of a call
 * @number: a candidate, or CONVENTION_NOBODY, _POINTER, _OUTSIDE
 * @block:  of the candidate; CONVENTION_BEGINNING
 */
struct convention_callee {
	uint32_t number;
	uint32_t block;
};

/**
 * struct convention_node - a candidate
 * @flow:   summary of its code, if @known: its graph is complete
 * @first:  its first call in convention_graph.callees
 * @lost:   code that could not be analysed may call it
 * @joined: calls or jumps of other candidates lead to blocks after its start
 */
struct convention_node {
	struct convention_flow flow;
	size_t first;
	bool known;
	bool lost;
	bool joined;
};

/**
 * struct convention_graph - zero-initialised is empty; freed by convention_graph_deinit()
 * @callees: for each call of each candidate
 * @callers: for candidate n from @first_caller[n] on
 * @most:    largest number of calls of one candidate
 */
struct convention_graph {
	const struct candidates *candidates;
	struct convention_node *nodes;
	struct convention_callee *callees;
	uint32_t *callers;
	size_t *first_caller;
	size_t most;
};

/** convention_graph_find() - build the graph. Return: 0 or -ENOMEM. */
int convention_graph_find(struct convention_graph *ret, const struct candidates *candidates);

void convention_graph_deinit(struct convention_graph *graph);

/**
 * convention_graph_order() - order candidates so that callees precede callers, except in cycles
 * @ret: room for all candidates
 *
 * Return: 0 or -ENOMEM.
 */
int convention_graph_order(const struct convention_graph *graph, uint32_t *ret);

static inline const struct cfg *convention_graph_cfg(const struct convention_graph *graph,
						     uint32_t number)
{
	return graph->candidates->all[number].cfg;
}

/** convention_graph_callee() - return the callee of a call in a candidate's graph */
static inline const struct convention_callee *
convention_graph_callee(const struct convention_graph *graph, uint32_t number, uint32_t call)
{
	return &graph->callees[graph->nodes[number].first + call];
}

#endif
