// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/flow_spread.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

/* Limit on the operations for a procedure. */
#define WORK_MAX 2e7
/* Standard deviation of a frequency without evidence: a factor of e^5. */
#define UNKNOWN_SPREAD 5.0
/* Blocks with less information about their frequency are ignored. */
#define INFORMATION_MIN 1e-3
/* Numbers that are added up in parallel. */
#define LANES 4
typedef double lanes __attribute__((vector_size(LANES * sizeof(double)), aligned(8), may_alias));
/* Registers wide enough for all lanes are used where available; the sums are the same. */
#ifdef __x86_64__
#define WIDE __attribute__((target_clones("avx", "default")))
#else
#define WIDE
#endif
/* Keeps the matrix regular for parameters that no evidence depends on. */
#define RIDGE 1e-3

/*
 * struct spread - state of a computation
 * @branches:  edges with an alternative: parameters 1 .. @parameters - 1; parameter 0 is the
 *             logarithm of executions
 * @slopes:    for each parameter, the derivatives of the logarithms of all nodes' frequencies
 * @slope:     derivatives of one node with respect to all parameters
 * @curvature: lower triangle, then its Cholesky factor
 */
struct spread {
	struct flow_chain *chain;
	const struct flow_evidence *evidence;
	const struct flow_fit *fit;
	uint32_t *branches;
	size_t parameters;
	double *slopes;
	double *slope;
	double *curvature;
};

/* Fisher information of a Poisson variable whose mean has a gamma distribution, at the fit. */
static double information_of(const struct flow_block_evidence *block, double frequency)
{
	double expected = frequency * block->cycles;
	double even = block->evenness / flow_block_part(block), sum = expected + even;

	if (block->cycles <= 0 || block->evenness <= 0)
		return 0;
	return (block->samples + even) * expected * block->evenness / (sum * sum);
}

/*
 * List the edges that are parameters. The last edge of each node is the reference of the others'
 * weights, because scaling all weights of a node has no effect.
 */
static size_t find_branches(uint32_t *branches, const struct flow_chain *chain,
			    const struct flow_evidence *evidence)
{
	size_t count = 0;

	for (uint32_t n = 0; n < chain->node_count; n++) {
		if (flow_evidence_knows(evidence, n))
			continue;
		for (uint32_t i = 0; i + 1 < chain->count[n]; i++)
			branches[count++] = chain->first[n] + i;
	}
	return count;
}

/* Return the first parameter that belongs to the same node as parameter @k. */
static size_t first_of_node(const struct spread *spread, size_t k)
{
	uint32_t edge = spread->branches[k - 1];

	return k - (edge - spread->chain->first[spread->chain->from[edge]]);
}

/*
 * More weight of an edge adds flow at its target, taken from all edges of its node in proportion to
 * their probabilities.
 * @flow: out: change of the flow that begins at each node, per visit to the edge's node
 */
static void begin_flow(double *flow, const struct spread *spread, uint32_t edge)
{
	const struct flow_chain *chain = spread->chain;
	uint32_t from = chain->from[edge];

	for (uint32_t e = chain->first[from]; e < chain->first[from] + chain->count[from]; e++) {
		if (chain->to[e] != FLOW_CHAIN_EXIT)
			flow[chain->to[e]] += (e == edge) - spread->fit->edges[e];
	}
}

static void fill_slopes(struct spread *spread)
{
	const double *p = spread->fit->edges, *frequency = spread->fit->nodes;
	size_t nodes = spread->chain->node_count;
	double *flows = spread->slopes + nodes;

	for (size_t n = 0; n < nodes; n++)
		spread->slopes[n] = 1;
	for (size_t k = 1; k < spread->parameters; k++)
		begin_flow(spread->slopes + k * nodes, spread, spread->branches[k - 1]);
	if (spread->parameters > 1)
		flow_chain_flows(spread->chain, flows, spread->parameters - 1);
	for (size_t k = 1; k < spread->parameters; k++) {
		uint32_t edge = spread->branches[k - 1];
		double moved = p[edge] * frequency[spread->chain->from[edge]];
		double *slopes = spread->slopes + k * nodes;

		for (size_t n = 0; n < nodes; n++)
			slopes[n] *= moved / frequency[n];
	}
}

static void add_branches(struct spread *spread)
{
	const struct flow_chain *chain = spread->chain;
	const double *seen = spread->evidence->seen, *p = spread->fit->edges;

	for (size_t j = 1; j < spread->parameters; j++) {
		uint32_t a = spread->branches[j - 1], from = chain->from[a];
		double total = 0;

		for (uint32_t e = chain->first[from]; e < chain->first[from] + chain->count[from];
		     e++)
			total += seen[e];
		for (size_t k = first_of_node(spread, j); k <= j; k++) {
			uint32_t b = spread->branches[k - 1];

			spread->curvature[j * spread->parameters + k] +=
				total * ((j == k ? p[a] : 0) - p[a] * p[b]);
		}
	}
}

static double *slope_of(struct spread *spread, uint32_t node)
{
	for (size_t j = 0; j < spread->parameters; j++)
		spread->slope[j] = spread->slopes[j * spread->chain->node_count + node];
	return spread->slope;
}

/* Four sums in parallel, because a single one would wait for its own result at each step. */
WIDE static double dot(const double *a, const double *b, size_t count)
{
	lanes sums = {0};
	double rest = 0;
	size_t i = 0;

	for (; i + LANES <= count; i += LANES)
		sums += *(const lanes *)(a + i) * *(const lanes *)(b + i);
	for (; i < count; i++)
		rest += a[i] * b[i];
	return sums[0] + sums[1] + sums[2] + sums[3] + rest;
}

/* Compute each node's information about its frequency. */
static void find_information(double *information, const struct spread *spread)
{
	const struct flow_evidence *evidence = spread->evidence;

	for (uint32_t n = 0; n < spread->chain->node_count; n++) {
		information[n] = information_of(&evidence->blocks[n], spread->fit->nodes[n]);
		if (information[n] < INFORMATION_MIN)
			information[n] = 0;
	}
	if (evidence->calls > 0)
		information[spread->chain->entry] += evidence->calls_weight;
}

/* @difference: memory for a number for each parameter */
static void add_links(struct spread *spread, double *difference)
{
	size_t nodes = spread->chain->node_count;

	for (size_t i = 0; i < spread->evidence->link_count; i++) {
		const struct flow_link *link = &spread->evidence->links[i];

		for (size_t j = 0; j < spread->parameters; j++) {
			const double *slopes = spread->slopes + j * nodes;

			difference[j] = slopes[link->nodes[0]] - slopes[link->nodes[1]];
			for (size_t k = 0; k <= j; k++)
				spread->curvature[j * spread->parameters + k] +=
					link->weight * difference[j] * difference[k];
		}
	}
}

/* @information, @row: memory for a number for each node */
static void fill_curvature(struct spread *spread, double *information, double *row)
{
	size_t nodes = spread->chain->node_count;

	for (size_t j = 0; j < spread->parameters; j++)
		spread->curvature[j * spread->parameters + j] = RIDGE;
	add_branches(spread);
	add_links(spread, spread->slope);
	find_information(information, spread);
	for (size_t j = 0; j < spread->parameters; j++) {
		for (size_t n = 0; n < nodes; n++)
			row[n] = information[n] * spread->slopes[j * nodes + n];
		for (size_t k = 0; k <= j; k++)
			spread->curvature[j * spread->parameters + k] +=
				dot(row, spread->slopes + k * nodes, nodes);
	}
}

static void factor(double *a, size_t width)
{
	for (size_t j = 0; j < width; j++) {
		for (size_t k = 0; k <= j; k++) {
			double sum = a[j * width + k] - dot(a + j * width, a + k * width, k);

			a[j * width + k] =
				j == k ? sqrt(fmax(sum, RIDGE * RIDGE)) : sum / a[k * width + k];
		}
	}
}

/* Overwrites the slopes. */
static double spread_of(const double *lower, double *slope, size_t width)
{
	double sum = 0;

	for (size_t j = 0; j < width; j++) {
		double value = slope[j] - dot(lower + j * width, slope, j);

		slope[j] = value / lower[j * width + j];
		sum += slope[j] * slope[j];
	}
	return fmin(sqrt(sum), UNKNOWN_SPREAD);
}

/* Use only the evidence of each block's own samples. */
static void spread_apart(double *spread, const struct flow_chain *chain,
			 const struct flow_evidence *evidence, const struct flow_fit *fit)
{
	for (uint32_t n = 0; n < chain->node_count; n++) {
		double information = information_of(&evidence->blocks[n], fit->nodes[n]);

		spread[n] = 1 / sqrt(information + 1 / (UNKNOWN_SPREAD * UNKNOWN_SPREAD));
	}
}

static int flow_spread_do_find(double *spread, struct flow_chain *chain,
			       const struct flow_evidence *evidence, const struct flow_fit *fit)
{
	_cleanup_free_ uint32_t *branches =
		calloc((size_t)chain->edge_count + 1, sizeof(*branches));
	_cleanup_free_ double *row = calloc(chain->node_count, sizeof(*row));
	_cleanup_free_ double *information = calloc(chain->node_count, sizeof(*information));
	_cleanup_free_ double *slopes = NULL, *slope = NULL, *curvature = NULL;
	struct spread s = {.chain = chain, .evidence = evidence, .fit = fit, .branches = branches};

	if (branches == NULL || row == NULL || information == NULL)
		return -ENOMEM;
	s.parameters = 1 + find_branches(branches, chain, evidence);
	if ((double)s.parameters * (double)s.parameters *
		    (chain->node_count + (double)s.parameters + (double)evidence->link_count) >
	    WORK_MAX) {
		spread_apart(spread, chain, evidence, fit);
		return 0;
	}
	s.slopes = slopes = calloc(chain->node_count * s.parameters, sizeof(*slopes));
	s.slope = slope = calloc(s.parameters, sizeof(*slope));
	s.curvature = curvature = calloc(s.parameters * s.parameters, sizeof(*curvature));
	if (slopes == NULL || slope == NULL || curvature == NULL)
		return -ENOMEM;
	fill_slopes(&s);
	fill_curvature(&s, information, row);
	factor(curvature, s.parameters);
	for (uint32_t n = 0; n < chain->node_count; n++)
		spread[n] = spread_of(curvature, slope_of(&s, n), s.parameters);
	return 0;
}

int flow_spread_find(struct flow_fit *fit, struct flow_chain *chain,
		     const struct flow_evidence *evidence)
{
	fit->spread = calloc(chain->node_count, sizeof(*fit->spread));
	return fit->spread == NULL ? -ENOMEM
				   : flow_spread_do_find(fit->spread, chain, evidence, fit);
}
