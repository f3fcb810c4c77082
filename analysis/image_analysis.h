/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The analysis of an image: of all its procedures, of those that were sampled, or
 * of some. Calls tie procedures together: what the callers' estimates say of how
 * often a procedure was called enters its own estimate.
 *
 * Results come one procedure at a time, so memory is in proportion to the largest
 * procedures and not to the image (but for a few numbers a procedure, and what
 * program_calls.h keeps).
 */
#ifndef DCPI_IMAGE_ANALYSIS_H
#define DCPI_IMAGE_ANALYSIS_H

#include "analysis/image_samples.h"
#include "analysis/procedure_analysis.h"

struct error;
struct program_calls;

/** enum image_analysis_scope - which procedures. */
enum image_analysis_scope {
	IMAGE_ANALYSIS_SAMPLED, /* those that have samples of time, or exact counts */
	IMAGE_ANALYSIS_ALL,
	IMAGE_ANALYSIS_CHOSEN, /* options.chosen */
};

/**
 * struct image_analysis_options - how; all zero is a good default
 * @model:        NULL: machine_model_default() of the image's architecture
 * @estimator:    NULL: the default
 * @threads:      to analyse with, while the caller's takes the results; 0 and 1: the
 *                caller's does it all
 * @scope:        which procedures
 * @least:        of IMAGE_ANALYSIS_SAMPLED, in all passes: only procedures with at least this
 *                number of samples of time, or with exact counts
 * @chosen:       indices in image_code_procedures(), ascending; a procedure that is a
 *                part of another one stands for that one
 * @chosen_count: how many
 * @published: see struct procedure_analysis
 * @tie_calls:    estimate twice, the second time with what callers say. Takes a first
 *                pass over all procedures that have samples, also if few are chosen
 * @calls:        NULL; else what image_analysis_tally() made of this and other images,
 *                which on out-of-order machines saves the first pass
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
 * struct image_analysis_totals - what was done
 * @procedures:   analysed
 * @undecodable:  in scope, but no instruction of theirs could be decoded, or too large
 * @instructions: in those analysed
 * @samples:      of time, in those analysed
 * @samples_outside: of time, in no procedure that was analysed
 * @few:          procedures that had fewer samples than options.least; @samples_few: of time,
 *                in these, part of @samples_outside
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
 * typedef image_analysis_fn - takes one result
 * @analysis: valid during the call only
 *
 * Called on the thread that called image_analysis_run(), in order of index.
 *
 * Return: 0 to go on; anything else ends the run and is what it returns.
 */
typedef int (*image_analysis_fn)(void *ctx, const struct procedure_analysis *analysis);

/**
 * image_analysis_weigh() - visit the procedures that IMAGE_ANALYSIS_SAMPLED means
 * @visit: gets the samples of time of each. Return: 0 to go on
 *
 * Return: 0, -ENOMEM, or what @visit returned.
 */
int image_analysis_weigh(struct image_code *code, const struct image_samples *samples,
			 int (*visit)(void *ctx, double time), void *ctx, struct error *err);

/**
 * image_analysis_tally() - only add up what an image's procedures say of calls
 * @calls:   to be solved when all images were added
 * @options: @scope and @chosen are not looked at
 *
 * In-order machines compare nothing between images: nothing is done.
 *
 * Return: as image_analysis_run()
 */
int image_analysis_tally(struct program_calls *calls, struct image_code *code,
			 const struct image_samples *samples,
			 const struct image_analysis_options *options, struct error *err);

/**
 * image_analysis_run() - analyse an image
 * @code:    used by all threads
 * @totals:  out: may be NULL; filled in also when the run ends early
 *
 * Return: 0, also if no procedure is in scope; -EINVAL the model is of another
 * architecture, or a chosen index is none; -ENODATA a *chosen* procedure has no
 * instruction that can be decoded; -ENOMEM; -EAGAIN threads can't be started; what
 * the callback returned.
 */
int image_analysis_run(struct image_code *code, const struct image_samples *samples,
		       const struct image_analysis_options *options, image_analysis_fn result,
		       void *ctx, struct image_analysis_totals *totals, struct error *err);

#endif
