/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often the procedures of an image are called, by the estimates of their callers, on
 * in-order machines: program_calls.h has the others.
 *
 * Direct calls and jumps are all that is seen, so the sum is what a procedure is called
 * at least. It is used unless the procedure's own samples say that there must be other
 * callers. Internal to image_analysis.c.
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
 * @analysis: of procedure_analysis_estimate()
 *
 * Return: 0 or -ENOMEM.
 */
int image_calls_add(struct image_calls *calls, const struct procedure_analysis *analysis);

/**
 * image_calls_apply() - fill in what callers say in a procedure's profile: calls_in and
 * calls_in_weight
 */
void image_calls_apply(const struct image_calls *calls, size_t index,
		       struct procedure_profile *profile);

#endif
