// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/call_network.h"

#include <errno.h>
#include <lbfgs.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

/* Least standard deviation of a constraint. */
#define TIE_SPREAD 0.1
#define SCALE_SPREAD_MIN 0.02
#define STEPS_MAX 200
/* Degrees of freedom of the distribution that compares two procedures. */
#define FREEDOM 4.0
/* Relative variance of the share of executions that no pair covers. */
#define UNSEEN_BIAS 0.3
/* Bound on the logarithm of a factor, also in trial steps. */
#define SHIFT_MAX 20.0

static int compare_calls(const void *a, const void *b)
{
	const struct call_network_call *x = a, *y = b;

	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	return (x->caller > y->caller) - (x->caller < y->caller);
}

/* Sort by callee; pairs of unknown part, which are not in a sum, come last. */
static int compare_pairs(const void *a, const void *b)
{
	const struct call_network_pair *x = a, *y = b;

	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	if ((x->part > 0) != (y->part > 0))
		return x->part > 0 ? -1 : 1;
	return (x->caller > y->caller) - (x->caller < y->caller);
}

/*
 * struct search - data for every step
 * @factors:    scratch: of each procedure, the factor that its shift stands for
 * @executions: logarithm of each procedure's executions
 * @ratios:     logarithm of each pair's ratio
 */
struct search {
	const struct call_network *network;
	double *factors;
	double *executions;
	double *ratios;
};

static double factor_of(double shift)
{
	return exp(fmin(fmax(shift, -SHIFT_MAX), SHIFT_MAX));
}

static double shifted(const struct search *search, size_t call)
{
	const struct call_network_call *c = &search->network->calls[call];

	return c->calls * search->factors[c->caller];
}

/* Return the cost of the calls [first, end) of one procedure; add to the gradient. */
static double tie(const struct search *search, size_t first, size_t end, const double *shift,
		  double *gradient)
{
	const struct call_network *network = search->network;
	uint32_t callee = network->calls[first].callee;
	const struct call_network_procedure *procedure = &network->procedures[callee];
	double sum = 0, variance = procedure->entry_spread * procedure->entry_spread, off, cost,
	       slope;

	for (size_t i = first; i < end; i++)
		sum += shifted(search, i);
	for (size_t i = first; i < end; i++)
		variance += pow(shifted(search, i) / sum * network->calls[i].spread, 2);
	variance += TIE_SPREAD * TIE_SPREAD;
	off = search->executions[callee] + shift[callee] - log(sum);
	if (off < 0) {
		cost = off * off / (2 * variance);
		slope = off / variance;
	} else {
		cost = log1p(off * off / variance) / 2;
		slope = off / (variance + off * off);
	}
	gradient[callee] += slope;
	for (size_t i = first; i < end; i++)
		gradient[network->calls[i].caller] -= slope * shifted(search, i) / sum;
	return cost;
}

/*
 * Use Student's distribution, whose heavy tails tolerate outliers: a sampled return may come from
 * another procedure that took the callee's place.
 */
static double call_network_compare(const struct search *search, size_t i, const double *shift,
				   double *gradient)
{
	const struct call_network_pair *pair = &search->network->pairs[i];
	double variance = pair->spread * pair->spread + TIE_SPREAD * TIE_SPREAD;
	double off = search->ratios[i] + shift[pair->callee] - shift[pair->caller];
	double slope = pair->certain ? off / variance
				     : (FREEDOM + 1) * off / (FREEDOM * variance + off * off);

	gradient[pair->callee] += slope;
	gradient[pair->caller] -= slope;
	if (pair->certain)
		return off * off / (2 * variance);
	return (FREEDOM + 1) / 2 * log1p(off * off / (FREEDOM * variance));
}

/*
 * Compare the pairs [first, end) of one procedure as a sum. The share of its executions that each
 * site called for is uncertain, but an excess in one pair's share is missing from the others.
 */
static double compare_sum(const struct search *search, size_t first, size_t end,
			  const double *shift, double *gradient)
{
	const struct call_network_pair *pairs = search->network->pairs;
	uint32_t callee = pairs[first].callee;
	double variance = search->network->procedures[callee].entry_spread;
	double parts = 0, calls = 0, off, slope;
	bool certain = true;

	for (size_t i = first; i < end; i++) {
		certain &= pairs[i].certain;
		parts += pairs[i].part;
		calls += pairs[i].part / pairs[i].ratio * search->factors[pairs[i].caller];
	}
	variance = TIE_SPREAD * TIE_SPREAD + variance * variance + fmax(0, 1 - parts) * UNSEEN_BIAS;
	for (size_t i = first; i < end; i++)
		variance += pow(pairs[i].part / parts * pairs[i].site_spread, 2);
	off = log(parts / calls) + shift[callee];
	slope = certain ? off / variance : (FREEDOM + 1) * off / (FREEDOM * variance + off * off);
	gradient[callee] += slope;
	for (size_t i = first; i < end; i++)
		gradient[pairs[i].caller] -= slope * pairs[i].part / pairs[i].ratio / calls *
					     search->factors[pairs[i].caller];
	if (certain)
		return off * off / (2 * variance);
	return (FREEDOM + 1) / 2 * log1p(off * off / (FREEDOM * variance));
}

static double compare_sums(const struct search *search, const double *shift, double *gradient)
{
	const struct call_network *network = search->network;
	double cost = 0;

	for (size_t first = 0, end; first < network->pair_count; first = end) {
		uint32_t callee = network->pairs[first].callee;

		for (end = first; end < network->pair_count; end++) {
			if (network->pairs[end].callee != callee || network->pairs[end].part <= 0)
				break;
		}
		if (end > first + 1)
			cost += compare_sum(search, first, end, shift, gradient);
		end = end > first ? end : first + 1;
	}
	return cost;
}

/* Compare the executions of the targets [first, end) of one call as a sum. */
static double compare_targets(const struct search *search, size_t first, size_t end,
			      const double *shift, double *gradient)
{
	const struct call_network_target *targets = search->network->targets;
	uint32_t caller = targets[first].caller;
	double variance = TIE_SPREAD * TIE_SPREAD + pow(targets[first].site_spread, 2), sum = 0;
	double off, slope;

	for (size_t i = first; i < end; i++)
		sum += targets[i].part * search->factors[targets[i].callee];
	for (size_t i = first; i < end; i++)
		variance += pow(targets[i].part * search->factors[targets[i].callee] / sum *
					targets[i].spread,
				2);
	off = log(sum) - shift[caller];
	slope = off / variance;
	gradient[caller] -= slope;
	for (size_t i = first; i < end; i++)
		gradient[targets[i].callee] +=
			slope * targets[i].part * search->factors[targets[i].callee] / sum;
	return off * off / (2 * variance);
}

static double compare_sites(const struct search *search, const double *shift, double *gradient)
{
	const struct call_network *network = search->network;
	double cost = 0;

	for (size_t first = 0, end; first < network->target_count; first = end) {
		for (end = first + 1; end < network->target_count; end++) {
			if (network->targets[end].site != network->targets[first].site)
				break;
		}
		cost += compare_targets(search, first, end, shift, gradient);
	}
	return cost;
}

static lbfgsfloatval_t evaluate(void *instance, const lbfgsfloatval_t *shift,
				lbfgsfloatval_t *gradient, const int n, const lbfgsfloatval_t step)
{
	const struct search *search = instance;
	const struct call_network *problem = search->network;
	double cost = 0;

	(void)step;
	for (int i = 0; i < n; i++) {
		double spread = fmax(problem->procedures[i].scale_spread, SCALE_SPREAD_MIN);

		cost += shift[i] * shift[i] / (2 * spread * spread);
		gradient[i] = shift[i] / (spread * spread);
		search->factors[i] = factor_of(shift[i]);
	}
	for (size_t first = 0, end; first < problem->call_count; first = end) {
		uint32_t callee = problem->calls[first].callee;

		for (end = first; end < problem->call_count; end++) {
			if (problem->calls[end].callee != callee)
				break;
		}
		if (problem->procedures[callee].executions > 0)
			cost += tie(search, first, end, shift, gradient);
	}
	for (size_t i = 0; i < problem->pair_count; i++)
		cost += call_network_compare(search, i, shift, gradient);
	cost += compare_sums(search, shift, gradient);
	cost += compare_sites(search, shift, gradient);
	for (int i = 0; i < n; i++) {
		if (problem->procedures[i].measured)
			gradient[i] = 0;
	}
	return cost;
}

/* @numbers: memory for two numbers of each procedure and one of each pair */
static struct search call_network_begin(const struct call_network *network, double *numbers)
{
	struct search search = {
		.network = network,
		.factors = numbers,
		.executions = numbers + network->procedure_count,
		.ratios = numbers + 2 * network->procedure_count,
	};

	for (size_t i = 0; i < network->procedure_count; i++)
		search.executions[i] = log(network->procedures[i].executions);
	for (size_t i = 0; i < network->pair_count; i++)
		search.ratios[i] = log(network->pairs[i].ratio);
	return search;
}

int call_network_solve(struct call_network *network)
{
	struct call_network_procedure *procedures = network->procedures;
	size_t procedure_count = network->procedure_count;
	_cleanup_free_ double *numbers = NULL;
	lbfgs_parameter_t parameter;
	struct search search;
	double *shift;
	int r = 0;

	for (size_t i = 0; i < procedure_count; i++)
		procedures[i].factor = 1;
	if (procedure_count == 0 || network->call_count + network->pair_count == 0)
		return 0;
	if (network->call_count > 0)
		qsort(network->calls, network->call_count, sizeof(*network->calls), compare_calls);
	if (network->pair_count > 0)
		qsort(network->pairs, network->pair_count, sizeof(*network->pairs), compare_pairs);
	numbers = calloc(2 * procedure_count + network->pair_count, sizeof(*numbers));
	shift = lbfgs_malloc((int)procedure_count);
	if (numbers == NULL || shift == NULL) {
		lbfgs_free(shift);
		return -ENOMEM;
	}
	memset(shift, 0, procedure_count * sizeof(*shift));
	search = call_network_begin(network, numbers);
	lbfgs_parameter_init(&parameter);
	parameter.max_iterations = STEPS_MAX;
	if (lbfgs((int)procedure_count, shift, NULL, evaluate, NULL, &search, &parameter) ==
	    LBFGSERR_OUTOFMEMORY)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < procedure_count; i++)
		procedures[i].factor = factor_of(shift[i]);
	lbfgs_free(shift);
	return r;
}
