// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/flow_fit.h"

#include <errno.h>
#include <lbfgs.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

#define STEPS_MAX 400
#define MEMORY 8
/*
 * Stop when the gradient is small relative to the parameters, or when steps improve the likelihood
 * by less than this part of its distance to the highest. Clocks make the likelihood a narrow
 * valley: the first steps reach it, and the improvement per step is small until the search follows
 * it.
 */
#define GRADIENT_PRECISION 3e-3
#define PRECISION 5e-4
/* Lower bound of frequencies. */
#define FREQUENCY_MIN 1e-30
/* Bound on the logarithm of executions, so that no trial step overflows. */
#define EXECUTIONS_LOG_MAX 60

/*
 * struct problem - parameters and scratch memory of the search
 *
 * The parameters are the logarithm of executions, then that of each edge's weight. An edge's
 * probability is its weight divided by the sum of the weights of its node's edges.
 * @worth:   scratch, one for each node
 * @highest: upper bound of the likelihood, with the best value for every observation
 */
struct problem {
	struct flow_chain *chain;
	const struct flow_evidence *evidence;
	struct flow_fit *fit;
	double *worth;
	double highest;
	int error;
};

/*
 * Convert logarithmic weights to probabilities. Weights of known edges keep their initial values.
 */
static void probabilities_of(const struct flow_chain *chain, const double *weights, double *edges)
{
	for (uint32_t n = 0; n < chain->node_count; n++) {
		const double *w = weights + chain->first[n];
		double *p = edges + chain->first[n];
		double most = -INFINITY, sum = 0;

		for (uint32_t i = 0; i < chain->count[n]; i++)
			most = fmax(most, w[i]);
		for (uint32_t i = 0; i < chain->count[n]; i++)
			sum += p[i] = exp(w[i] - most);
		for (uint32_t i = 0; i < chain->count[n]; i++)
			p[i] = fmax(p[i] / sum, FLOW_PROBABILITY_MIN);
	}
}

static int frequencies_of(struct problem *problem, const double *x)
{
	struct flow_chain *chain = problem->chain;
	double executions = exp(fmin(fmax(x[0], -EXECUTIONS_LOG_MAX), EXECUTIONS_LOG_MAX));
	int r;

	probabilities_of(chain, x + 1, problem->fit->edges);
	r = flow_chain_set(chain, problem->fit->edges);
	if (r < 0)
		return r;
	flow_chain_visits(chain, problem->fit->nodes);
	for (uint32_t n = 0; n < chain->node_count; n++)
		problem->fit->nodes[n] = fmax(problem->fit->nodes[n] * executions, FREQUENCY_MIN);
	return 0;
}

/* Log likelihood of a block's samples if @expected are expected; greatest if they are equal. */
static double likelihood_of_block(const struct flow_block_evidence *block, double expected)
{
	double part = flow_block_part(block), samples = block->samples * part;

	return (samples > 0 ? samples * log(expected) : 0) -
	       (samples + block->evenness) * log(expected + block->evenness / part);
}

/*
 * Log likelihood of all samples; sets problem->worth to its derivative with respect to frequencies.
 */
static double likelihood_of_time(struct problem *problem)
{
	double sum = 0;

	for (uint32_t n = 0; n < problem->chain->node_count; n++) {
		const struct flow_block_evidence *block = &problem->evidence->blocks[n];
		double frequency = problem->fit->nodes[n], expected = frequency * block->cycles;
		double part = flow_block_part(block), samples = block->samples * part;
		double all = samples + block->evenness, even = block->evenness / part;

		problem->worth[n] = 0;
		if (block->cycles <= 0 || block->evenness <= 0)
			continue;
		sum += likelihood_of_block(block, expected);
		problem->worth[n] = samples / frequency - all * block->cycles / (expected + even);
	}
	return sum;
}

static double likelihood_of_calls(struct problem *problem)
{
	const struct flow_evidence *evidence = problem->evidence;
	double executions = problem->fit->nodes[problem->chain->entry], off;

	if (evidence->calls <= 0 || evidence->calls_weight <= 0)
		return 0;
	off = log(executions / evidence->calls);
	problem->worth[problem->chain->entry] -= evidence->calls_weight * off / executions;
	return -evidence->calls_weight * off * off / 2;
}

static double likelihood_of_links(struct problem *problem)
{
	const double *nodes = problem->fit->nodes;
	double sum = 0;

	for (size_t i = 0; i < problem->evidence->link_count; i++) {
		const struct flow_link *link = &problem->evidence->links[i];
		uint32_t a = link->nodes[0], b = link->nodes[1];
		double off = log(nodes[a] / nodes[b]) - link->log;

		problem->worth[a] -= link->weight * off / nodes[a];
		problem->worth[b] += link->weight * off / nodes[b];
		sum -= link->weight * off * off / 2;
	}
	return sum;
}

/* Log likelihood of directions; fills in the gradient with respect to weights of edges. */
static double likelihood_of_directions(struct problem *problem, double *gradient)
{
	const struct flow_chain *chain = problem->chain;
	const double *p = problem->fit->edges, *seen = problem->evidence->seen;
	double sum = 0;

	for (uint32_t n = 0; n < chain->node_count; n++) {
		double mean = 0, total = 0, frequency = problem->fit->nodes[n];
		uint32_t first = chain->first[n], end = first + chain->count[n];

		for (uint32_t e = first; e < end; e++) {
			double worth = chain->to[e] == FLOW_CHAIN_EXIT
					       ? 0
					       : problem->worth[chain->to[e]] * frequency;

			gradient[e] = worth;
			mean += p[e] * worth;
			total += seen[e];
		}
		for (uint32_t e = first; e < end && chain->count[n] > 1; e++) {
			sum += seen[e] * log(p[e]);
			gradient[e] = p[e] * (gradient[e] - mean) + seen[e] - total * p[e];
		}
		if (chain->count[n] == 1 || flow_evidence_knows(problem->evidence, n))
			memset(&gradient[first], 0, chain->count[n] * sizeof(*gradient));
	}
	return sum;
}

static lbfgsfloatval_t evaluate(void *instance, const lbfgsfloatval_t *x, lbfgsfloatval_t *gradient,
				const int n, const lbfgsfloatval_t step)
{
	struct problem *problem = instance;
	const struct flow_chain *chain = problem->chain;
	double sum, scale = 0;

	(void)step;
	problem->error = frequencies_of(problem, x);
	if (problem->error < 0) {
		memset(gradient, 0, (size_t)n * sizeof(*gradient));
		return INFINITY;
	}
	sum = likelihood_of_time(problem);
	sum += likelihood_of_calls(problem);
	sum += likelihood_of_links(problem);
	for (uint32_t i = 0; i < chain->node_count; i++)
		scale += problem->worth[i] * problem->fit->nodes[i];
	gradient[0] = scale;
	flow_chain_values(problem->chain, problem->worth);
	sum += likelihood_of_directions(problem, gradient + 1);
	for (int i = 0; i < n; i++)
		gradient[i] = -gradient[i];
	return problem->highest - sum;
}

/*
 * Log likelihood if each block had its most likely frequency and each branch had the observed
 * direction shares. The search stops when steps hardly approach this value. A criterion relative to
 * 0 would depend on the number of observations, which determines the likelihood's magnitude.
 */
static double highest_likelihood(const struct problem *problem)
{
	const struct flow_chain *chain = problem->chain;
	const double *seen = problem->evidence->seen;
	double sum = 0;

	for (uint32_t n = 0; n < chain->node_count; n++) {
		const struct flow_block_evidence *block = &problem->evidence->blocks[n];
		double total = 0;

		if (block->cycles > 0 && block->evenness > 0)
			sum += likelihood_of_block(block, block->samples);
		for (uint32_t e = chain->first[n]; e < chain->first[n] + chain->count[n]; e++)
			total += seen[e];
		for (uint32_t e = chain->first[n];
		     e < chain->first[n] + chain->count[n] && chain->count[n] > 1; e++)
			sum += seen[e] * log(seen[e] / total);
	}
	return sum;
}

/*
 * Start with the observed directions and the executions that account for all samples of all blocks.
 */
static int flow_fit_start(struct problem *problem, double *x)
{
	const struct flow_chain *chain = problem->chain;
	double samples = 0, expected = 0;
	int r;

	problem->highest = highest_likelihood(problem);
	x[0] = 0;
	for (uint32_t e = 0; e < chain->edge_count; e++)
		x[1 + e] = log(problem->evidence->seen[e]);
	r = frequencies_of(problem, x);
	for (uint32_t n = 0; n < chain->node_count; n++) {
		samples += problem->evidence->blocks[n].samples;
		expected += problem->evidence->blocks[n].cycles * problem->fit->nodes[n];
	}
	if (expected > 0)
		x[0] = log(fmax(samples, 0.5) / expected);
	return r;
}

static int search(struct problem *problem, double *x)
{
	lbfgs_parameter_t parameter;
	int r;

	lbfgs_parameter_init(&parameter);
	parameter.m = MEMORY;
	parameter.max_iterations = STEPS_MAX;
	parameter.past = 5;
	parameter.delta = PRECISION;
	parameter.epsilon = GRADIENT_PRECISION;
	r = lbfgs((int)problem->chain->edge_count + 1, x, NULL, evaluate, NULL, problem,
		  &parameter);
	/* After any other result (step limit, rounding), x is the best point found. */
	if (r == LBFGSERR_OUTOFMEMORY)
		return -ENOMEM;
	return frequencies_of(problem, x);
}

int flow_fit_create(struct flow_fit *ret, struct flow_chain *chain,
		    const struct flow_evidence *evidence)
{
	struct flow_fit fit = {
		.nodes = calloc(chain->node_count, sizeof(*fit.nodes)),
		.edges = calloc((size_t)chain->edge_count + 1, sizeof(*fit.edges)),
	};
	_cleanup_free_ double *worth = calloc(chain->node_count, sizeof(*worth));
	double *x = lbfgs_malloc((int)chain->edge_count + 1);
	struct problem problem = {
		.chain = chain, .evidence = evidence, .fit = &fit, .worth = worth};
	int r = -ENOMEM;

	if (fit.nodes != NULL && fit.edges != NULL && worth != NULL && x != NULL)
		r = flow_fit_start(&problem, x);
	if (r == 0)
		r = search(&problem, x);
	lbfgs_free(x);
	if (r < 0)
		flow_fit_deinit(&fit);
	else
		*ret = fit;
	return r;
}

void flow_fit_deinit(struct flow_fit *fit)
{
	free(fit->nodes);
	free(fit->edges);
	free(fit->spread);
	*fit = (struct flow_fit){0};
}
