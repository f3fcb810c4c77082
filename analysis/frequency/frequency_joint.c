// SPDX-License-Identifier: GPL-2.0-only
/*
 * The default estimator on in-order machines: estimates all classes jointly from the distribution
 * of their ratios, flow conservation, sampled branch directions and the callers' estimate.
 */
#include "analysis/frequency/frequency_estimators.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/frequency/class_clocks.h"
#include "analysis/frequency/flow_lower_bounds.h"
#include "analysis/frequency/frequency_evidence.h"
#include "analysis/frequency/frequency_solver.h"
#include "analysis/frequency/issue_point.h"
#include "lib/cleanup.h"

/* Greatest half of an interval's width, relative to the estimate, for each confidence. */
#define HIGH_WIDTH 0.06
#define MEDIUM_WIDTH 0.12
/* Usually converges long before. */
#define ROUNDS 20
/* With fewer samples, in all or per class, iterations do not improve the result. */
#define FEW_SAMPLES 200
#define FEW_SAMPLES_A_CLASS 3
/* If a direction was sampled in n of n samples, the other one may have one in n + 1. */
#define PRIOR_SEEN 0.5
/*
 * Standard deviations: of sampled directions, at least this part of the node's flow; of trip counts
 * known from the code exactly or on average, this part of the exit's share.
 */
#define ERROR_MIN 0.002
#define KNOWN_ERROR 0.01
#define AVERAGE_ERROR 0.1
/* Expected number of samples with which none are observed one time in ten. */
#define UNSEEN 2.3
/*
 * With few samples, code in which everything stalls looks like code that runs often. So the
 * logarithm of an interval's lower end is reduced by HIDDEN_STALLS / samples of the class, at most
 * by HIDDEN_STALLS_MOST. Fitted on the tuned half of the truth harness so that 90% of intervals
 * hold.
 */
#define HIDDEN_STALLS 20.0
#define HIDDEN_STALLS_MOST 1.5

static void link_branch(struct frequency_link *links, size_t *count,
			const struct frequency_input *input, uint32_t b)
{
	const struct cfg_block *block = &input->cfg->blocks[b];
	uint32_t branch = block->first + block->count - 1;
	double total = input->profile->branch_total[branch];

	if (block->out_count < 2 || total <= 0)
		return;
	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		double seen = input->profile->edge_samples[e];
		double share = (seen + PRIOR_SEEN) / (total + PRIOR_SEEN * block->out_count);

		if (input->classes->of_edge[e] == input->classes->of_block[b])
			continue;
		links[(*count)++] = (struct frequency_link){
			.class = input->classes->of_edge[e],
			.of = input->classes->of_block[b],
			.share = share,
			.error = fmax(sqrt(share * (1 - share) / (total + 1)), ERROR_MIN),
		};
	}
}

static size_t link_branches(struct frequency_link *links, const struct frequency_input *input)
{
	size_t count = 0;

	if (input->profile->edge_samples == NULL || input->profile->branch_total == NULL)
		return 0;
	for (uint32_t b = 0; b < input->cfg->block_count; b++)
		link_branch(links, &count, input, b);
	return count;
}

/* Link the exit of each loop whose trip count is known from the code. */
static size_t link_loops(struct frequency_link *links, const struct frequency_input *input,
			 const struct trip_counts *trips)
{
	size_t count = 0;

	for (uint32_t i = 0; i < trips->count; i++) {
		const struct trip_count *trip = &trips->list[i];
		uint32_t of = input->classes->of_block[trip->block];
		uint32_t class = input->classes->of_edge[trip->leave];

		if (class == of)
			continue;
		links[count++] = (struct frequency_link){
			.class = class,
			.of = of,
			.share = 1 / trip->trips,
			.error = (trip->varies ? AVERAGE_ERROR : KNOWN_ERROR) / trip->trips,
		};
	}
	return count;
}

/* @samples: of the class */
static struct frequency_estimate estimate_of(const struct frequency_marginal *marginal,
					     bool has_evidence, double samples)
{
	struct frequency_estimate estimate = {
		.value = marginal->median,
		.low = marginal->low,
		.high = marginal->high,
		.origin = has_evidence ? FREQUENCY_JOINT : FREQUENCY_PROPAGATED,
	};
	double width;

	if (has_evidence && samples > 0)
		estimate.low *= exp(-fmin(HIDDEN_STALLS / samples, HIDDEN_STALLS_MOST));
	width = (estimate.high - estimate.low) / 2;

	if (width <= HIGH_WIDTH * marginal->median)
		estimate.confidence = FREQUENCY_HIGH;
	else if (width <= MEDIUM_WIDTH * marginal->median)
		estimate.confidence = FREQUENCY_MEDIUM;
	return estimate;
}

static unsigned int rounds_for(const struct frequency_input *input)
{
	double total = input->profile->total;

	return total < FEW_SAMPLES || total < FEW_SAMPLES_A_CLASS * (double)input->classes->count
		       ? 0
		       : ROUNDS;
}

/* @samples: of each class; @measured: true for a class with a clock */
static int frequency_joint_solve(struct frequency_estimate *classes,
				 const struct frequency_input *input, const double *samples,
				 const bool *measured, const struct flow_constraints *constraints,
				 struct frequency_evidence *evidence,
				 const struct frequency_density *first)
{
	uint32_t class_count = input->classes->count;
	_cleanup_free_ struct frequency_link *links =
		malloc(((size_t)input->cfg->edge_count * 2 + 1) * sizeof(*links));
	_cleanup_free_ struct frequency_marginal *marginals =
		malloc(((size_t)class_count + 1) * sizeof(*marginals));
	struct frequency_problem problem = {
		.constraints = constraints,
		.densities = evidence->densities,
		.first = first,
		.bounds = evidence->bounds,
		.links = links,
		.class_count = class_count,
		.rounds = rounds_for(input),
	};
	int r;

	if (links == NULL || marginals == NULL)
		return -ENOMEM;
	problem.link_count = link_branches(links, input);
	problem.link_count += link_loops(&links[problem.link_count], input, &input->facts->trips);
	frequency_bounds_spread(evidence->bounds, class_count, constraints);
	r = frequency_solve(marginals, &problem);
	for (uint32_t k = 0; r == 0 && k < class_count; k++) {
		classes[k] = estimate_of(&marginals[k], evidence->densities[k].count > 0,
					 measured[k] ? INFINITY : samples[k]);
		classes[k].measured = measured[k];
	}
	return r;
}

/*
 * No samples at all: set upper ends to the frequency that may go unobserved; nothing can be joined.
 */
static void estimate_unsampled(struct frequency_estimate *classes,
			       const struct issue_points *points, uint32_t class_count)
{
	for (uint32_t k = 0; k < class_count; k++)
		classes[k].high = points->cycles[k] > 0 ? UNSEEN / points->cycles[k] : UNSEEN;
}

/*
 * Compute the evidence from the procedure's own samples. If several solutions fit all evidence, the
 * solution near the own evidence is wanted. Without this start, the iteration could stop at another
 * solution on the path from the evidence of other procedures.
 */
static int find_own_evidence(struct frequency_evidence *ret, bool *measured,
			     const struct frequency_input *input, const struct issue_points *points)
{
	int r;

	struct procedure_profile own = *input->profile;
	struct frequency_input own_input = *input;

	own_input.profile = &own;
	own.derived_count = 0;
	own.calls_in = 0;
	r = frequency_evidence_find(ret, &own_input, points);
	return r == 0 ? class_clocks_take(ret, measured, &own_input) : r;
}

static int estimate(struct frequency *ret, const struct frequency_input *input)
{
	_cleanup_(issue_points_deinit) struct issue_points points = {0};
	_cleanup_(frequency_evidence_deinit) struct frequency_evidence evidence = {0};
	_cleanup_(frequency_evidence_deinit) struct frequency_evidence own = {0};
	_cleanup_(flow_constraints_deinit) struct flow_constraints constraints = {0};
	_cleanup_free_ struct frequency_estimate *classes = NULL;
	_cleanup_free_ bool *measured = NULL, *own_measured = NULL;
	int r = 0;

	/* Out of order, the ratios of samples and cycles have no cluster. */
	if (input->model != NULL && !input->model->in_order)
		return frequency_flow(ret, input);
	classes = calloc((size_t)input->classes->count + 1, sizeof(*classes));
	measured = calloc((size_t)input->classes->count + 1, sizeof(*measured));
	own_measured = calloc((size_t)input->classes->count + 1, sizeof(*own_measured));
	if (classes == NULL || measured == NULL || own_measured == NULL ||
	    issue_points_find(&points, input) < 0 ||
	    frequency_evidence_find(&evidence, input, &points) < 0 ||
	    class_clocks_take(&evidence, measured, input) < 0 ||
	    flow_constraints_create(&constraints, input->cfg, input->classes) < 0)
		return -ENOMEM;
	if (input->profile->derived_count > 0 &&
	    find_own_evidence(&own, own_measured, input, &points) < 0)
		return -ENOMEM;
	if (procedure_profile_tells(input->profile))
		r = frequency_joint_solve(classes, input, points.samples, measured, &constraints,
					  &evidence, own.densities);
	else
		estimate_unsampled(classes, &points, input->classes->count);
	/* The graph is too complex for the joint estimate: use the paper's local method. */
	if (r == -E2BIG)
		return frequency_paper.estimate(ret, input);
	if (r < 0)
		return r;
	frequency_from_classes(ret, input, classes);
	return flow_lower_bounds_apply(ret, input->cfg, input->profile);
}

const struct frequency_estimator frequency_joint = {
	.name = "dcpi",
	.summary = "all classes at once, from the distribution of S/M, flow and branch directions",
	.by_flow = true,
	.estimate = estimate,
};
