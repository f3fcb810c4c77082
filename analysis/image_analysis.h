/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The analysis of an image: of all its procedures, of those that were sampled, or
 * of some. Calls tie procedures together: what the callers' estimates say of how
 * often a procedure was called enters its own estimate.
 *
 * Results come one procedure at a time, so memory is in proportion to the largest
 * procedures and not to the image.
 */
#ifndef DCPI_IMAGE_ANALYSIS_H
#define DCPI_IMAGE_ANALYSIS_H

#include "analysis/image_code.h"
#include "analysis/procedure_analysis.h"

struct error;

/**
 * struct image_event_samples - samples of an event in an image
 * @counts: by address (ELF virtual addresses), ascending, each address once
 * @count:  how many
 * @period: what a sample stands for, on average: cycles for time, else events;
 *          0: the event was not collected
 */
struct image_event_samples {
	const struct address_count *counts;
	size_t count;
	double period;
};

/**
 * struct image_samples - all that was collected of an image; zeros where nothing was
 * @time:         samples of time; its period is procedure_profile.period_cycles
 * @period_error: see struct procedure_profile
 * @clock:        likewise
 * @roles:        other events
 * @branches:     edges that were seen, by (from, to), ascending
 * @branch_count: how many
 * @branches_sampled: edges were collected, though perhaps none was seen
 * @exact:        executions counted by instrumentation, of every instruction that ran,
 *                by address, ascending. Procedures in which none is listed were not
 *                instrumented
 * @exact_count:  how many
 *
 * The arrays are the caller's and must not change while an analysis runs.
 */
struct image_samples {
	struct image_event_samples time;
	double period_error;
	bool clock;
	struct image_event_samples roles[PROFILE_ROLES];
	const struct branch_count *branches;
	size_t branch_count;
	bool branches_sampled;
	const struct address_count *exact;
	size_t exact_count;
};

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
 * @threads:      to use; 0 and 1: none but the caller's
 * @scope:        which procedures
 * @chosen:       indices in image_code_procedures(), ascending; a procedure that is a
 *                part of another one stands for that one
 * @chosen_count: how many
 * @tie_calls:    estimate twice, the second time with what callers say. Takes a first
 *                pass over all procedures that have samples, also if few are chosen
 */
struct image_analysis_options {
	const struct machine_model *model;
	const struct frequency_estimator *estimator;
	unsigned int threads;
	enum image_analysis_scope scope;
	const size_t *chosen;
	size_t chosen_count;
	bool tie_calls;
};

/**
 * struct image_analysis_totals - what was done
 * @procedures:   analysed
 * @undecodable:  in scope, but no instruction of theirs could be decoded
 * @instructions: in those analysed
 * @samples:      of time, in those analysed
 * @samples_outside: of time, in no procedure that was analysed
 */
struct image_analysis_totals {
	size_t procedures;
	size_t undecodable;
	uint64_t instructions;
	double samples;
	double samples_outside;
};

/**
 * typedef image_analysis_fn - takes one result
 * @analysis: valid during the call only
 *
 * Called on the thread that called image_analysis_run(), in order of index; other
 * threads don't use the image meanwhile, so that image_code functions may be called.
 *
 * Return: 0 to go on; anything else ends the run and is what it returns.
 */
typedef int (*image_analysis_fn)(void *ctx, const struct procedure_analysis *analysis);

/**
 * image_analysis_run() - analyse an image
 * @code:    not used by anyone else meanwhile
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
