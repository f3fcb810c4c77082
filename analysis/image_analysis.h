/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Analysis of an image: of all its procedures, of the sampled ones, or of some. Calls relate
 * procedures to each other: the callers' estimates of the number of calls are evidence for a
 * procedure's own estimate.
 *
 * Results are returned one procedure at a time. So memory is in proportion to the largest
 * procedures and not to the image, except for a few numbers per procedure and the data of
 * program_calls.h.
 */
#ifndef DCPI_IMAGE_ANALYSIS_H
#define DCPI_IMAGE_ANALYSIS_H

#include "analysis/image_samples.h"
#include "analysis/procedure_analysis.h"

struct error;
struct program_calls;

/** enum image_analysis_scope - procedures to analyse. */
enum image_analysis_scope {
	IMAGE_ANALYSIS_SAMPLED, /* procedures with samples of time, or exact counts */
	IMAGE_ANALYSIS_ALL,
	IMAGE_ANALYSIS_CHOSEN, /* options.chosen */
};

/**
 * struct image_analysis_options - parameters; zero-initialised for the defaults
 * @model:        NULL: machine_model_default() of the image's architecture
 * @estimator:    NULL: the default
 * @threads:      number of threads for the analysis, while the caller's thread takes the results; 0
 *                and 1: the caller's thread does everything
 * @scope:        procedures to analyse
 * @least:        with IMAGE_ANALYSIS_SAMPLED, in all passes: only procedures with at least this
 *                number of samples of time, or with exact counts
 * @chosen:       indices in image_code_procedures(), ascending; a procedure that is a part of
 *                another one stands for that one
 * @chosen_count: number of indices
 * @published:    see struct procedure_analysis
 * @tie_calls:    estimate twice, the second time with the callers' evidence. This needs a first
 *                pass over all procedures that have samples, even if only a few are chosen
 * @calls:        result of image_analysis_tally() for this and other images, which replaces the
 *                first pass on out-of-order machines; or NULL
 */
struct image_analysis_options {
	const struct machine_model *model;
	const struct frequency_estimator *estimator;
	unsigned int threads;
	enum image_analysis_scope scope;
	double least;
	const size_t *chosen;
	size_t chosen_count;
	bool published;
	bool tie_calls;
	const struct program_calls *calls;
};

/**
 * struct image_analysis_totals - totals of an analysis
 * @procedures:   analysed
 * @undecodable:  in scope, but too large or without any decodable instruction
 * @instructions: in analysed procedures
 * @samples:      of time, in analysed procedures
 * @samples_outside: of time, in no analysed procedure
 * @few:          procedures with fewer samples than options.least; @samples_few: their samples of
 *                time, part of @samples_outside
 */
struct image_analysis_totals {
	size_t procedures;
	size_t undecodable;
	uint64_t instructions;
	double samples;
	double samples_outside;
	size_t few;
	double samples_few;
};

/**
 * typedef image_analysis_fn - callback for one result
 * @analysis: valid during the call only
 *
 * Called on the thread that called image_analysis_run(), in order of index.
 *
 * Return: 0 to continue; any other value ends the run and is returned by it.
 */
typedef int (*image_analysis_fn)(void *ctx, const struct procedure_analysis *analysis);

/**
 * image_analysis_weigh() - visit the procedures that IMAGE_ANALYSIS_SAMPLED selects
 * @visit:  receives the samples of time of each. Return: 0 to continue
 * @totals: out: totals of an analysis in which each procedure has fewer samples than options.least
 *
 * Return: 0, or the result of @visit.
 */
int image_analysis_weigh(struct image_code *code, const struct image_samples *samples,
			 int (*visit)(void *ctx, double time), void *ctx,
			 struct image_analysis_totals *totals);

/**
 * image_analysis_tally() - only add up the calls of an image's procedures
 * @calls:   to be solved after all images were added
 * @options: @scope and @chosen are ignored
 *
 * No effect for in-order machines, on which images are not compared.
 *
 * Return: like image_analysis_run()
 */
int image_analysis_tally(struct program_calls *calls, struct image_code *code,
			 const struct image_samples *samples,
			 const struct image_analysis_options *options, struct error *err);

/**
 * image_analysis_run() - analyse an image
 * @code:   used by all threads
 * @totals: out: may be NULL; also filled in if the run ends early
 *
 * Return: 0, also if no procedure is in scope.
 * Return: -EINVAL: the model is for another architecture, or a chosen index is invalid.
 * Return: -ENODATA: a *chosen* procedure has no decodable instruction.
 * Return: -ENOMEM. -EAGAIN: threads cannot be started. Or the result of the callback.
 */
int image_analysis_run(struct image_code *code, const struct image_samples *samples,
		       const struct image_analysis_options *options, image_analysis_fn result,
		       void *ctx, struct image_analysis_totals *totals, struct error *err);

#endif
