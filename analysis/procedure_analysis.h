/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that can be told of one procedure: the stages of DCPI section 6, one after the
 * other. image_analysis.h does it for all procedures of an image, tied together by
 * their calls.
 */
#ifndef DCPI_PROCEDURE_ANALYSIS_H
#define DCPI_PROCEDURE_ANALYSIS_H

#include "analysis/culprit/culprit.h"
#include "analysis/frequency/frequency_bound.h"

/**
 * struct procedure_analysis - the result; members are those of the stages
 * @index: in image_code_procedures()
 * @published: as DCPI did it: blocks are scheduled each by itself, and causes are listed
 *         also where they are unlikely or small
 * @late: in order, samples fall on the instruction executed next, and are moved back
 * @footprint, @sets: see struct culprit_input; the caller's
 * @facts: found once, for all estimates
 * @bound: of procedure_analysis_run(), unless @published
 */
struct procedure_analysis {
	size_t index;
	bool published;
	bool late;
	const struct machine_model *model;
	const struct code_footprint *footprint;
	const struct code_sets *sets;
	struct cfg *cfg;
	struct cfg_facts facts;
	struct frequency_classes classes;
	struct schedule schedule;
	struct procedure_profile profile;
	struct frequency frequency;
	enum frequency_bound_result bound;
	struct culprits culprits;
};

/**
 * procedure_analysis_estimate() - classes, schedule and frequencies
 * @analysis: @index, @published, @late, @model, @cfg and @profile filled in (they become its
 * own), and out of order @frequency, if it is known; the rest zero; freed by
 * procedure_analysis_deinit(), also after a failure
 *
 * Classes are found only if the estimator makes something of them.
 *
 * In order, schedules and estimates twice, the second time with ways into blocks weighed
 * as was estimated; once more if samples are late, for these weights say whose they are.
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_analysis_estimate(struct procedure_analysis *analysis,
				const struct frequency_estimator *estimator);

/**
 * procedure_analysis_run() - the same, bounded by the time sampled, and then culprits
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_analysis_run(struct procedure_analysis *analysis,
			   const struct frequency_estimator *estimator);

/** procedure_analysis_input() - what culprits were looked for in, for stall_summary_add(). */
struct culprit_input procedure_analysis_input(const struct procedure_analysis *analysis);

/**
 * procedure_analysis_call() - how often a call is made, or a jump out of the procedure taken
 * @call: of @analysis' graph
 *
 * Return: the edge's estimate where it is a jump that the graph has, else its block's; the
 * analysis' own.
 */
const struct frequency_estimate *procedure_analysis_call(const struct procedure_analysis *analysis,
							 const struct cfg_call *call);

/** procedure_analysis_deinit() - free. Zero-initialised is fine. */
void procedure_analysis_deinit(struct procedure_analysis *analysis);

#endif
