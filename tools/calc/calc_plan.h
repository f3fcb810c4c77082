/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which procedures of a database have enough samples to be analysed.
 *
 * The time of an analysis depends on the number of procedures, and a procedure with few samples
 * gives its share of time only. So reports over all images analyse procedures with at
 * least CALC_PLAN_LEAST samples, and about CALC_PLAN_MOST of them: where there are more,
 * those with fewest samples are left out.
 */
#ifndef DCPI_CALC_PLAN_H
#define DCPI_CALC_PLAN_H

#include "tools/base/progress.h"
#include "tools/calc/calc_images.h"
#include "tools/calc/calc_select.h"

#define CALC_PLAN_LEAST 16
#define CALC_PLAN_MOST 2500

#define CALC_PLAN_DEFAULT                                                                          \
	{                                                                                          \
		.least = CALC_PLAN_LEAST, .most = CALC_PLAN_MOST                                   \
	}

/* An entry of a table of options (lib/options.h); calc_plan_set() takes its argument. */
#define CALC_PLAN_OPTION(key)                                                                      \
	{                                                                                          \
		key, "min-samples", "N",                                                           \
			"analyse procedures with N samples or more (16; more where many have as "  \
			"many)"                                                                    \
	}

/**
 * struct calc_plan - zero-initialised: all procedures are analysed
 * @least: samples of time that a procedure needs; in: the lower limit of that
 * @most:  procedures, about, that have no exact counts; 0: any number
 * @worth: of each image: whether it has such a procedure, could not be looked at, or has exact
 *         counts; NULL: all are
 */
struct calc_plan {
	double least;
	size_t most;
	bool *worth;
};

/** calc_plan_set() - take the argument of --min-samples. Return: 0 or -EINVAL. */
int calc_plan_set(struct calc_plan *plan, const char *argument, struct error *err);

/**
 * calc_plan_make() - find @least and @worth
 * @plan:      freed by calc_plan_deinit(), also after a failure
 * @is_chosen: whether an image is looked at at all; @context is its first argument
 *
 * Opens each image once, if a limit is set; else does nothing.
 *
 * Return: 0 or -ENOMEM.
 */
int calc_plan_make(struct calc_plan *plan, const struct calc_select *select,
		   bool (*is_chosen)(const void *context, const struct calc_image *image),
		   const void *context, struct progress *progress);

/** calc_plan_is_worth() - whether an image has anything to analyse; @index: in calc_images. */
static inline bool calc_plan_is_worth(const struct calc_plan *plan, size_t index)
{
	return plan->worth == NULL || plan->worth[index];
}

void calc_plan_deinit(struct calc_plan *plan);

#endif
