// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/procedure_analysis.h"

#include "analysis/frequency/loop_overlap.h"
#include "analysis/frequency/skid.h"
#include "lib/cleanup.h"

#include <errno.h>
#include <stdlib.h>

#define REFINED_SAMPLES 300

static struct frequency_input input_of(const struct procedure_analysis *analysis)
{
	return (struct frequency_input){
		.cfg = analysis->cfg,
		.facts = &analysis->facts,
		.classes = analysis->classes.of_block != NULL ? &analysis->classes : NULL,
		.model = analysis->model,
		.schedule = &analysis->schedule,
		.profile = &analysis->profile,
	};
}

static int procedure_estimate(struct procedure_analysis *analysis,
			      const struct frequency_estimator *estimator)
{
	struct frequency_input input = input_of(analysis);

	return frequency_estimate(&analysis->frequency, estimator, &input);
}

static int make_room(struct procedure_profile *profile, size_t insns)
{
	if (profile->taken != NULL)
		return 0;
	profile->taken = profile->samples;
	profile->samples = calloc(insns + 1, sizeof(*profile->samples));
	profile->unsure = calloc(insns + 1, sizeof(*profile->unsure));
	return profile->samples != NULL && profile->unsure != NULL ? 0 : -ENOMEM;
}

/* Move late samples back; @weights: see skid_take_back(). */
static int take_back(struct procedure_analysis *analysis, const double *weights)
{
	struct procedure_profile *profile = &analysis->profile;
	int r;

	if (!analysis->late)
		return 0;
	r = make_room(profile, analysis->cfg->insn_count);
	if (r != 0)
		return r;
	return skid_take_back(profile->samples, profile->unsure, analysis->cfg, &analysis->schedule,
			      profile->taken, weights);
}

/* Schedule and estimate again, with edges into blocks weighted by the previous estimate. */
static int refine(struct procedure_analysis *analysis, const struct frequency_estimator *estimator)
{
	const struct cfg *cfg = analysis->cfg;
	_cleanup_free_ double *weights = calloc((size_t)cfg->edge_count + 1, sizeof(*weights));
	int r;

	if (weights == NULL)
		return -ENOMEM;
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		weights[e] = analysis->frequency.edges[e].value;
	schedule_deinit(&analysis->schedule);
	analysis->schedule = (struct schedule){0};
	frequency_deinit(&analysis->frequency);
	analysis->frequency = (struct frequency){0};
	r = schedule_create(&analysis->schedule, analysis->model, cfg, weights);
	if (r == 0)
		r = take_back(analysis, weights);
	return r != 0 ? r : procedure_estimate(analysis, estimator);
}

static bool needs_classes(const struct procedure_analysis *analysis,
			  const struct frequency_estimator *estimator)
{
	return analysis->model->in_order || !estimator->by_flow || analysis->profile.exact != NULL;
}

int procedure_analysis_estimate(struct procedure_analysis *analysis,
				const struct frequency_estimator *estimator)
{
	bool known = analysis->frequency.blocks != NULL;
	int r = 0;

	if (!known && needs_classes(analysis, estimator))
		r = frequency_classes_find(&analysis->classes, analysis->cfg);
	if (r == 0 && !known && procedure_profile_tells(&analysis->profile))
		r = cfg_facts_find(&analysis->facts, analysis->cfg);
	if (r == 0 && analysis->published)
		r = schedule_create_alone(&analysis->schedule, analysis->model, analysis->cfg);
	else if (r == 0)
		r = schedule_create(&analysis->schedule, analysis->model, analysis->cfg, NULL);
	if (r == 0)
		r = take_back(analysis, NULL);
	if (r == 0 && !known)
		r = procedure_estimate(analysis, estimator);
	/*
	 * Out of order, a block's bound does not depend on the edge taken. With few samples,
	 * fractions of M do not affect the estimates.
	 */
	if (r == 0 && analysis->model->in_order && !analysis->published &&
	    analysis->profile.total >= REFINED_SAMPLES) {
		r = refine(analysis, estimator);
		if (r == 0 && analysis->late)
			r = refine(analysis, estimator);
	}
	return r;
}

struct culprit_input procedure_analysis_input(const struct procedure_analysis *analysis)
{
	return (struct culprit_input){
		.thorough = analysis->published,
		.cfg = analysis->cfg,
		.model = analysis->model,
		.schedule = &analysis->schedule,
		.profile = &analysis->profile,
		.frequency = &analysis->frequency,
		.footprint = analysis->footprint,
		.sets = analysis->sets,
	};
}

int procedure_analysis_run(struct procedure_analysis *analysis,
			   const struct frequency_estimator *estimator)
{
	int r = procedure_analysis_estimate(analysis, estimator);
	struct culprit_input input = procedure_analysis_input(analysis);
	struct frequency_input estimated = input_of(analysis);

	if (r == 0 && !analysis->model->in_order)
		loop_overlap(&analysis->schedule, &analysis->frequency, analysis->cfg);
	if (r == 0 && !analysis->published)
		analysis->bound = frequency_bound(&analysis->frequency, &estimated);
	return r != 0 ? r : culprits_find(&analysis->culprits, &input);
}

const struct frequency_estimate *procedure_analysis_call(const struct procedure_analysis *analysis,
							 const struct cfg_call *call)
{
	long edge = cfg_tail_edge(analysis->cfg, call);

	return edge >= 0 ? &analysis->frequency.edges[edge]
			 : &analysis->frequency.blocks[analysis->cfg->block_of[call->insn]];
}

void procedure_analysis_deinit(struct procedure_analysis *analysis)
{
	culprits_deinit(&analysis->culprits);
	frequency_deinit(&analysis->frequency);
	schedule_deinit(&analysis->schedule);
	frequency_classes_deinit(&analysis->classes);
	cfg_facts_deinit(&analysis->facts);
	procedure_profile_deinit(&analysis->profile);
	cfg_destroy(analysis->cfg);
	*analysis = (struct procedure_analysis){0};
}
