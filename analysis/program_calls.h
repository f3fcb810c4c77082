/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much slower or faster than believed the procedures of a program run, by who calls
 * whom, in all of its images (see call_network.h for how).
 *
 * Two things are known of calls. Direct ones, inside an image, are in the code, and the
 * caller's estimate says how often they are made. And where edges were sampled, the
 * returns of a procedure say which share of its executions each place has called for,
 * in whatever image, and by whatever way; the callees of an indirect call are shared
 * out likewise. A share compares caller and callee without regard to other callers,
 * some of which may not be known.
 *
 * A return to behind a call of something else (a jump took the callee's place) compares
 * that, too, where nothing is known of what was called.
 *
 * All procedures of all images are added, then the whole is solved, then asked. For
 * out-of-order machines only: image_calls.h has the others. Not for several threads.
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
 * program_calls_add() - add what a procedure says of itself and of others
 * @code:     its image
 * @samples:  of its image; @image says which one that is
 * @analysis: of procedure_analysis_estimate()
 * @keep:     keep its estimates, if there is room; they must be in proportion to 1 / slowness
 *
 * Return: 0 or -ENOMEM.
 */
int program_calls_add(struct program_calls *calls, struct image_code *code,
		      const struct image_samples *samples,
		      const struct procedure_analysis *analysis, bool keep);

/** program_calls_solve() - once, when all are added. Return: 0 or -ENOMEM. */
int program_calls_solve(struct program_calls *calls);

/** program_calls_apply() - fill in a procedure's profile: its slowness, if it was added. */
void program_calls_apply(const struct program_calls *calls, int64_t image,
			 const struct procedure *procedure, struct procedure_profile *profile);

/**
 * program_calls_estimates() - a procedure's estimates with its slowness, if they were kept
 * @cfg: made of the same code and samples
 * @ret: out, if there are any; freed by frequency_deinit(); else as it was
 *
 * Return: 0 or -ENOMEM.
 */
int program_calls_estimates(const struct program_calls *calls, int64_t image,
			    const struct procedure *procedure, const struct cfg *cfg,
			    struct frequency *ret);

#endif
