// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/flow_spread.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

/* Operations that may be spent on a procedure. */
#define WORK_MAX 5e7
/* What is not determined at all: a factor of e^5. */
#define UNKNOWN_SPREAD 5.0
/* Keeps directions that nothing depends on from being singular. */
#define RIDGE 1e-3

/*
 * @branches:   edges that have a choice: parameters 1 .. branch_count; 0 is the
 *              logarithm of executions
 * @slopes:     of each node, the derivatives of the logarithm of its frequency
 * @curvature:  lower triangle, then its Cholesky factor
 */
struct spread {
	struct flow_chain *chain;
	const struct flow_evidence *evidence;
	const struct flow_fit *fit;
	uint32_t *branches;
	size_t parameters;
	double *slopes;
	double *curvature;
};

/* Of a Poisson variable whose mean is drawn from a gamma distribution, at the fit. */
static double information_of(const struct flow_block_evidence *block, double frequency)
{
	double expected = frequency * block->cycles, sum = expected + block->evenness;

	if (block->cycles <= 0 || block->evenness <= 0)
		return 0;
	return (block->samples + block->evenness) * expected * block->evenness / (sum * sum);
}

static size_t find_branches(uint32_t *branches, const struct flow_chain *chain)
{
	size_t count = 0;

	for (uint32_t n = 0; n < chain->node_count; n++) {
		for (uint32_t i = 0; i < chain->count[n] && chain->count[n] > 1; i++)
			branches[count++] = chain->first[n] + i;
	}
	return count;
}

/* The first parameter of the same node as another. */
static size_t first_of_node(const struct spread *spread, size_t k)
{
	uint32_t edge = spread->branches[k - 1];

	return k - (edge - spread->chain->first[spread->chain->from[edge]]);
}

/*
 * More weight of an edge is more flow from its target on, taken from all edges of its
 * node by their probabilities.
 */
static void fill_slopes(struct spread *spread, double *flow)
{
	const struct flow_chain *chain = spread->chain;
	const double *p = spread->fit->edges, *frequency = spread->fit->nodes;
	size_t width = spread->parameters;

	for (uint32_t n = 0; n < chain->node_count; n++)
		spread->slopes[n * width] = 1;
	for (size_t k = 1; k < width; k++) {
		uint32_t edge = spread->branches[k - 1], from = chain->from[edge];

		if (chain->to[edge] == FLOW_CHAIN_EXIT)
			continue;
		flow_chain_flow_of(spread->chain, chain->to[edge], flow);
		for (size_t j = first_of_node(spread, k); j < width; j++) {
			uint32_t other = spread->branches[j - 1];
			double moved = frequency[from] * p[edge] * ((j == k) - p[other]);

			if (chain->from[other] != from)
				break;
			for (uint32_t n = 0; n < chain->node_count; n++)
				spread->slopes[n * width + j] += moved * flow[n] / frequency[n];
		}
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

static void add_node(struct spread *spread, uint32_t node, double information)
{
	size_t width = spread->parameters;
	const double *slope = spread->slopes + node * width;

	if (information <= 0)
		return;
	for (size_t j = 0; j < width; j++) {
		for (size_t k = 0; k <= j && slope[j] != 0; k++)
			spread->curvature[j * width + k] += information * slope[j] * slope[k];
	}
}

static void fill_curvature(struct spread *spread)
{
	const struct flow_evidence *evidence = spread->evidence;

	for (size_t j = 0; j < spread->parameters; j++)
		spread->curvature[j * spread->parameters + j] = RIDGE;
	add_branches(spread);
	for (uint32_t n = 0; n < spread->chain->node_count; n++)
		add_node(spread, n, information_of(&evidence->blocks[n], spread->fit->nodes[n]));
	if (evidence->calls > 0)
		add_node(spread, spread->chain->entry, evidence->calls_weight);
}

static void factor(double *a, size_t width)
{
	for (size_t j = 0; j < width; j++) {
		for (size_t k = 0; k <= j; k++) {
			double sum = a[j * width + k];

			for (size_t i = 0; i < k; i++)
				sum -= a[j * width + i] * a[k * width + i];
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
		double value = slope[j];

		for (size_t k = 0; k < j; k++)
			value -= lower[j * width + k] * slope[k];
		slope[j] = value / lower[j * width + j];
		sum += slope[j] * slope[j];
	}
	return fmin(sqrt(sum), UNKNOWN_SPREAD);
}

/* What each block's samples say by themselves. */
static void spread_apart(double *spread, const struct flow_chain *chain,
			 const struct flow_evidence *evidence, const struct flow_fit *fit)
{
	for (uint32_t n = 0; n < chain->node_count; n++) {
		double information = information_of(&evidence->blocks[n], fit->nodes[n]);

		spread[n] = 1 / sqrt(information + 1 / (UNKNOWN_SPREAD * UNKNOWN_SPREAD));
	}
}

int flow_spread(double *spread, struct flow_chain *chain, const struct flow_evidence *evidence,
		const struct flow_fit *fit)
{
	_cleanup_free_ uint32_t *branches =
		calloc((size_t)chain->edge_count + 1, sizeof(*branches));
	_cleanup_free_ double *flow = calloc(chain->node_count, sizeof(*flow));
	_cleanup_free_ double *slopes = NULL, *curvature = NULL;
	struct spread s = {.chain = chain, .evidence = evidence, .fit = fit, .branches = branches};

	if (branches == NULL || flow == NULL)
		return -ENOMEM;
	s.parameters = 1 + find_branches(branches, chain);
	if ((double)s.parameters * (double)s.parameters *
		    (chain->node_count + (double)s.parameters) >
	    WORK_MAX) {
		spread_apart(spread, chain, evidence, fit);
		return 0;
	}
	s.slopes = slopes = calloc(chain->node_count * s.parameters, sizeof(*slopes));
	s.curvature = curvature = calloc(s.parameters * s.parameters, sizeof(*curvature));
	if (slopes == NULL || curvature == NULL)
		return -ENOMEM;
	fill_slopes(&s, flow);
	fill_curvature(&s);
	factor(curvature, s.parameters);
	for (uint32_t n = 0; n < chain->node_count; n++)
		spread[n] = spread_of(curvature, slopes + n * s.parameters, s.parameters);
	return 0;
}
