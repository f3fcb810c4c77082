/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Evidence about procedures of an image from direct calls and jumps between them, on in-order
 * machines; program_calls.h covers the others. It is collected in a first pass, in which each
 * procedure is estimated separately:
 *
 * - The sum over callers is a lower bound of a procedure's executions. It is used unless the
 *   procedure's own samples show that there must be other callers.
 * - A procedure's executions minus all other calls of it are the executions of one call. The block
 *   of that call may always wait where the procedure's own code does not. This value is used if it
 *   is more certain than the caller's estimate and does not contradict it, except for recursive
 *   calls.
 *
 * Internal to image_analysis.c.
 */
#ifndef DCPI_IMAGE_CALLS_H
#define DCPI_IMAGE_CALLS_H

#include "analysis/image/image_code.h"
#include "analysis/procedure_analysis.h"

struct image_calls;

/**
 * image_calls_create() - start without calls
 * @ret: out; freed by image_calls_destroy()
 *
 * Return: 0 or -ENOMEM.
 */
int image_calls_create(struct image_calls **ret, struct image_code *code);

/** image_calls_destroy() - free. NULL is fine. */
void image_calls_destroy(struct image_calls *calls);

/**
 * image_calls_add() - add a procedure's calls and the estimate of its own executions
 * @analysis: result of procedure_analysis_estimate(); once for each procedure
 *
 * Return: 0 or -ENOMEM.
 */
int image_calls_add(struct image_calls *calls, const struct procedure_analysis *analysis);

/**
 * image_calls_apply() - fill in the evidence from other procedures in a profile: @calls_in,
 * @calls_in_weight and the executions of calls
 *
 * O(calls log procedures). Return: 0 or -ENOMEM.
 */
int image_calls_apply(const struct image_calls *calls, const struct cfg *cfg, size_t index,
		      struct procedure_profile *profile);

#endif
