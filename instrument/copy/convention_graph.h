/* SPDX-License-Identifier: GPL-2.0-only */
/* Who calls whom, as far as it matters to what registers mean. Internal to convention.c. */
#ifndef DCPI_INSTRUMENT_CONVENTION_GRAPH_H
#define DCPI_INSTRUMENT_CONVENTION_GRAPH_H

#include "instrument/copy/candidate.h"
#include "instrument/copy/convention_flow.h"

/* Whom a call leads to, if not to a candidate: numbers from CONVENTION_NOBODY on. */
#define CONVENTION_OUTSIDE UINT32_MAX	    /* the world outside, as the ABI has it */
#define CONVENTION_POINTER (UINT32_MAX - 1) /* where a pointer says: likewise, as a rule */
#define CONVENTION_NOBODY                                                                          \
	(UINT32_MAX - 2) /* who knows: it looks at all, and may change nothing                     \
			  */

#define CONVENTION_BEGINNING UINT32_MAX

/**
 * struct convention_callee - whom a call leads to
 * @number: a candidate, or CONVENTION_NOBODY, _POINTER, _OUTSIDE
 * @block:  of the candidate; CONVENTION_BEGINNING
 */
struct convention_callee {
	uint32_t number;
	uint32_t block;
};

/**
 * struct convention_node - a candidate
 * @flow:   its code, if @known: its graph is all of it
 * @first:  its first call in convention_graph.callees
 * @lost:   code that is not understood may call it
 * @joined: others call it, or jump into it, other than where it begins
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
 * @callees: of each call of each candidate
 * @callers: by candidate, from @first_caller[n] on
 * @most:    calls that a candidate has
 */
struct convention_graph {
	const struct candidates *candidates;
	struct convention_node *nodes;
	struct convention_callee *callees;
	uint32_t *callers;
	size_t *first_caller;
	size_t most;
};

/** convention_graph_find() - Return: 0 or -ENOMEM. */
int convention_graph_find(struct convention_graph *ret, const struct candidates *candidates);

void convention_graph_deinit(struct convention_graph *graph);

/**
 * convention_graph_order() - candidates, each behind whom it calls, but for circles
 * @ret: room for all of them
 *
 * Return: 0 or -ENOMEM.
 */
int convention_graph_order(const struct convention_graph *graph, uint32_t *ret);

static inline const struct cfg *convention_graph_cfg(const struct convention_graph *graph,
						     uint32_t number)
{
	return graph->candidates->all[number].cfg;
}

/** convention_graph_callee() - of a call of a candidate's graph */
static inline const struct convention_callee *
convention_graph_callee(const struct convention_graph *graph, uint32_t number, uint32_t call)
{
	return &graph->callees[graph->nodes[number].first + call];
}

#endif
