/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What procedures of an image say of each other by direct calls and jumps, on in-order machines:
 * program_calls.h has the others. From a first pass, in which each was estimated by itself:
 *
 * - Callers add up to how often a procedure is called at least. That is used unless its own
 *   samples say that there must be other callers.
 * - A procedure's executions less all other calls of it are those of one call, whose block may
 *   wait all the time, where the procedure's own code does not. That is used where it is surer
 *   than what the caller said and does not contradict it, but of calls of itself.
 *
 * Internal to image_analysis.c.
 */
#ifndef DCPI_IMAGE_CALLS_H
#define DCPI_IMAGE_CALLS_H

#include "analysis/image/image_code.h"
#include "analysis/procedure_analysis.h"

struct image_calls;

/**
 * image_calls_create() - nobody has called yet
 * @ret: out; freed by image_calls_destroy()
 *
 * Return: 0 or -ENOMEM.
 */
int image_calls_create(struct image_calls **ret, struct image_code *code);

/** image_calls_destroy() - free. NULL is fine. */
void image_calls_destroy(struct image_calls *calls);

/**
 * image_calls_add() - add the calls that a procedure makes, and what it estimates of itself
 * @analysis: of procedure_analysis_estimate(); once of each procedure
 *
 * Return: 0 or -ENOMEM.
 */
int image_calls_add(struct image_calls *calls, const struct procedure_analysis *analysis);

/**
 * image_calls_apply() - fill in what others say in a procedure's profile: calls_in,
 * calls_in_weight and told
 *
 * O(calls log procedures). Return: 0 or -ENOMEM.
 */
int image_calls_apply(const struct image_calls *calls, const struct cfg *cfg, size_t index,
		      struct procedure_profile *profile);

#endif
