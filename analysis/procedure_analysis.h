/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Complete analysis of one procedure: the stages of DCPI section 6, in sequence. image_analysis.h
 * analyses all procedures of an image, with evidence from calls between them.
 */
#ifndef DCPI_PROCEDURE_ANALYSIS_H
#define DCPI_PROCEDURE_ANALYSIS_H

#include "analysis/culprit/culprit.h"
#include "analysis/frequency/frequency_bound.h"

/**
 * struct procedure_analysis - the result; members are those of the stages
 * @index:     in image_code_procedures()
 * @published: use DCPI's published method: schedule blocks separately, and also list unlikely or
 *             small causes
 * @late:      in order, samples fall on the instruction executed next, and are moved back
 * @footprint, @sets: see struct culprit_input; owned by the caller
 * @facts:     computed once, for all estimates
 * @bound:     set by procedure_analysis_run(), unless @published
 */
struct procedure_analysis {
	size_t index;
	bool published;
	bool late;
	const struct machine_model *model;
	const struct code_footprint *footprint;
	const struct set_pressure *sets;
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
 * procedure_analysis_estimate() - compute classes, schedule and frequencies
 * @analysis: @index, @published, @late, @model, @cfg and @profile are filled in (it takes
 *            ownership), and out of order @frequency, if known; the rest is zero. Freed by
 *            procedure_analysis_deinit(), also after a failure
 *
 * Classes are computed only if the estimator uses them.
 *
 * In order, schedules and estimates are computed twice, the second time with edges into blocks
 * weighted by the first estimate. If samples are late, a third computation follows, because these
 * weights determine the instructions that samples belong to.
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_analysis_estimate(struct procedure_analysis *analysis,
				const struct frequency_estimator *estimator);

/**
 * procedure_analysis_run() - like procedure_analysis_estimate(), then bound the estimates by the
 * sampled time and find culprits
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_analysis_run(struct procedure_analysis *analysis,
			   const struct frequency_estimator *estimator);

/** procedure_analysis_input() - return the input of the culprit rules, for stall_summary_add(). */
struct culprit_input procedure_analysis_input(const struct procedure_analysis *analysis);

/**
 * procedure_analysis_call() - return the estimated executions of a call or a jump out
 * @call: of @analysis' graph
 *
 * Return: the edge's estimate if it is a jump in the graph, else its block's; owned by @analysis.
 */
const struct frequency_estimate *procedure_analysis_call(const struct procedure_analysis *analysis,
							 const struct cfg_call *call);

/** procedure_analysis_deinit() - free. Zero-initialised is fine. */
void procedure_analysis_deinit(struct procedure_analysis *analysis);

#endif
