/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Factors by which the procedures of a program run slower or faster than modelled, from calls
 * between all procedures in all of its images (call_network.h describes the method).
 *
 * Two kinds of evidence are used. Direct calls inside an image are in the code, and the caller's
 * estimate is the number of their executions. Where edges were sampled, the returns of a procedure
 * show the share of its executions that each call site caused, in any image and through any kind of
 * call. The callees of an indirect call are divided in the same way. A share compares caller and
 * callee independently of other callers, which may be unknown.
 *
 * If a return leads to the address after a call of another procedure (a tail call replaced the
 * callee), the returning procedure is compared if nothing is known about the called one.
 *
 * First all procedures of all images are added, then the system is solved, then results can be
 * read. For out-of-order machines only: image_calls.h covers the others. Not thread-safe.
 */
#ifndef DCPI_PROGRAM_CALLS_H
#define DCPI_PROGRAM_CALLS_H

#include "analysis/image_samples.h"
#include "analysis/procedure_analysis.h"

struct program_calls;

/** program_calls_create() - @ret: out; freed by program_calls_destroy(). Return: 0 or -ENOMEM. */
int program_calls_create(struct program_calls **ret);

/** program_calls_destroy() - free. NULL is fine. */
void program_calls_destroy(struct program_calls *calls);

/**
 * program_calls_add() - add a procedure's estimates and the evidence about other procedures
 * @code:     its image
 * @samples:  of its image; @image identifies the image
 * @analysis: result of procedure_analysis_estimate()
 * @keep:     cache its estimates, if memory permits; they must be in proportion to 1 / slowness
 *
 * Return: 0 or -ENOMEM.
 */
int program_calls_add(struct program_calls *calls, struct image_code *code,
		      const struct image_samples *samples,
		      const struct procedure_analysis *analysis, bool keep);

/** program_calls_solve() - compute all factors, once, after all additions. Return: 0 or -ENOMEM. */
int program_calls_solve(struct program_calls *calls);

/**
 * program_calls_apply() - set the slowness in a procedure's profile, if the procedure was added.
 */
void program_calls_apply(const struct program_calls *calls, int64_t image,
			 const struct procedure *procedure, struct procedure_profile *profile);

/**
 * program_calls_estimates() - return a procedure's cached estimates, scaled by its slowness
 * @cfg: built from the same code and samples
 * @ret: out, if there are cached estimates; freed by frequency_deinit(); else unchanged
 *
 * Return: 0 or -ENOMEM.
 */
int program_calls_estimates(const struct program_calls *calls, int64_t image,
			    const struct procedure *procedure, const struct cfg *cfg,
			    struct frequency *ret);

#endif
