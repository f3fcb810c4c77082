// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/flow_chain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/klu.h>

#include "lib/cleanup.h"

/*
 * Additional flow out of every node, so that endless loops have a solution; far less than that of
 * the longest loops (FLOW_PROBABILITY_MIN).
 */
#define LEAK 1e-14

/*
 * struct flow_chain_solver - the matrix I - P', by columns of nodes that flow comes from
 * @slot:     index in @values of each edge's element; -1: the edge leads to the exit
 * @diagonal: index in @values of each node's diagonal element
 */
struct flow_chain_solver {
	klu_common common;
	klu_symbolic *symbolic;
	klu_numeric *numeric;
	int *columns;
	int *rows;
	double *values;
	int *slot;
	int *diagonal;
};

static uint32_t flow_chain_node_of(const struct cfg *cfg, uint32_t end)
{
	switch (end) {
	case CFG_EXIT:
		return FLOW_CHAIN_EXIT;
	case CFG_UNKNOWN:
		return cfg->block_count;
	case CFG_ENTRY:
		return cfg->block_count + 1;
	default:
		return end;
	}
}

static void copy_edges(struct flow_chain *chain, const struct cfg *cfg)
{
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		uint32_t from = flow_chain_node_of(cfg, cfg->edges[e].from);

		chain->from[e] = from;
		chain->to[e] = flow_chain_node_of(cfg, cfg->edges[e].to);
		if (chain->count[from]++ == 0)
			chain->first[from] = e;
	}
}

/*
 * Return the index of a row's element in the column being built; parallel edges share an element.
 * @last: for each row, the index of its element in the last column that contains it
 */
static int place_row(struct flow_chain_solver *solver, int *last, uint32_t column, int *end,
		     uint32_t row)
{
	int place = last[row];

	if (place >= solver->columns[column] && place < *end && solver->rows[place] == (int)row)
		return place;
	solver->rows[*end] = (int)row;
	last[row] = *end;
	return (*end)++;
}

static void place_all(struct flow_chain *chain, int *last)
{
	struct flow_chain_solver *solver = chain->solver;
	int end = 0;

	for (uint32_t n = 0; n < chain->node_count; n++) {
		solver->columns[n] = end;
		solver->diagonal[n] = place_row(solver, last, n, &end, n);
		for (uint32_t e = chain->first[n]; e < chain->first[n] + chain->count[n]; e++)
			solver->slot[e] = chain->to[e] == FLOW_CHAIN_EXIT
						  ? -1
						  : place_row(solver, last, n, &end, chain->to[e]);
	}
	solver->columns[chain->node_count] = end;
}

static int solver_create(struct flow_chain *chain)
{
	struct flow_chain_solver *solver = calloc(1, sizeof(*solver));
	size_t nodes = chain->node_count, slots = nodes + chain->edge_count;
	_cleanup_free_ int *last = calloc(nodes, sizeof(*last));

	chain->solver = solver;
	if (solver == NULL)
		return -ENOMEM;
	solver->columns = calloc(nodes + 1, sizeof(*solver->columns));
	solver->rows = calloc(slots + 1, sizeof(*solver->rows));
	solver->values = calloc(slots + 1, sizeof(*solver->values));
	solver->slot = calloc((size_t)chain->edge_count + 1, sizeof(*solver->slot));
	solver->diagonal = calloc(nodes, sizeof(*solver->diagonal));
	if (last == NULL || solver->columns == NULL || solver->rows == NULL ||
	    solver->values == NULL || solver->slot == NULL || solver->diagonal == NULL)
		return -ENOMEM;
	place_all(chain, last);
	klu_defaults(&solver->common);
	/* The sum of a column is never negative: the diagonal is always a good pivot. */
	solver->common.tol = 1e-12;
	solver->common.scale = 0;
	solver->symbolic = klu_analyze((int)nodes, solver->columns, solver->rows, &solver->common);
	return solver->symbolic == NULL ? -ENOMEM : 0;
}

int flow_chain_create(struct flow_chain **ret, const struct cfg *cfg)
{
	struct flow_chain *chain = calloc(1, sizeof(*chain));

	if (chain == NULL)
		return -ENOMEM;
	chain->node_count = cfg->block_count + 2;
	chain->edge_count = cfg->edge_count;
	chain->entry = cfg->block_count + 1;
	chain->from = calloc((size_t)cfg->edge_count + 1, sizeof(*chain->from));
	chain->to = calloc((size_t)cfg->edge_count + 1, sizeof(*chain->to));
	chain->first = calloc(chain->node_count, sizeof(*chain->first));
	chain->count = calloc(chain->node_count, sizeof(*chain->count));
	if (chain->from == NULL || chain->to == NULL || chain->first == NULL ||
	    chain->count == NULL) {
		flow_chain_destroy(chain);
		return -ENOMEM;
	}
	copy_edges(chain, cfg);
	if (solver_create(chain) < 0) {
		flow_chain_destroy(chain);
		return -ENOMEM;
	}
	*ret = chain;
	return 0;
}

static void solver_destroy(struct flow_chain_solver *solver)
{
	if (solver == NULL)
		return;
	klu_free_numeric(&solver->numeric, &solver->common);
	klu_free_symbolic(&solver->symbolic, &solver->common);
	free(solver->columns);
	free(solver->rows);
	free(solver->values);
	free(solver->slot);
	free(solver->diagonal);
	free(solver);
}

void flow_chain_destroy(struct flow_chain *chain)
{
	if (chain == NULL)
		return;
	solver_destroy(chain->solver);
	free(chain->from);
	free(chain->to);
	free(chain->first);
	free(chain->count);
	free(chain);
}

int flow_chain_set(struct flow_chain *chain, const double *probability)
{
	struct flow_chain_solver *solver = chain->solver;

	memset(solver->values, 0,
	       (size_t)solver->columns[chain->node_count] * sizeof(*solver->values));
	for (uint32_t n = 0; n < chain->node_count; n++)
		solver->values[solver->diagonal[n]] = 1 + LEAK;
	for (uint32_t e = 0; e < chain->edge_count; e++) {
		if (solver->slot[e] >= 0)
			solver->values[solver->slot[e]] -= probability[e];
	}
	if (solver->numeric != NULL)
		return klu_refactor(solver->columns, solver->rows, solver->values, solver->symbolic,
				    solver->numeric, &solver->common)
			       ? 0
			       : -EDOM;
	solver->numeric = klu_factor(solver->columns, solver->rows, solver->values,
				     solver->symbolic, &solver->common);
	if (solver->numeric != NULL)
		return 0;
	return solver->common.status == KLU_OUT_OF_MEMORY ? -ENOMEM : -EDOM;
}

void flow_chain_flows(struct flow_chain *chain, double *nodes, size_t count)
{
	struct flow_chain_solver *solver = chain->solver;

	klu_solve(solver->symbolic, solver->numeric, (int)chain->node_count, (int)count, nodes,
		  &solver->common);
}

void flow_chain_visits(struct flow_chain *chain, double *nodes)
{
	memset(nodes, 0, chain->node_count * sizeof(*nodes));
	nodes[chain->entry] = 1;
	flow_chain_flows(chain, nodes, 1);
}

void flow_chain_values(struct flow_chain *chain, double *nodes)
{
	struct flow_chain_solver *solver = chain->solver;

	klu_tsolve(solver->symbolic, solver->numeric, (int)chain->node_count, 1, nodes,
		   &solver->common);
}
