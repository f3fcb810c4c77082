/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Selects the procedures of a database that have enough samples to be analysed.
 *
 * The time of an analysis depends on the number of procedures, and a procedure with few samples
 * yields only its share of time. Therefore reports over all images analyse procedures with at least
 * CALC_PLAN_LEAST samples, and about CALC_PLAN_MOST of them: if there are more, the ones with
 * fewest samples are left out.
 */
#ifndef DCPI_CALC_PLAN_H
#define DCPI_CALC_PLAN_H

#include "analysis/image_analysis.h"
#include "tools/annotate/open_images.h"
#include "tools/base/progress.h"

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
			"analyse procedures with N samples or more (16; more if many have "        \
			"that number)"                                                             \
	}

/**
 * struct calc_plan - zero-initialised: all procedures are analysed
 * @least: samples of time that a procedure needs; in: a lower limit for this number
 * @most:  approximate maximum number of procedures without exact counts; 0: unlimited
 * @worth: by image: it has such a procedure, could not be opened, or has exact counts; NULL: true
 *         for all
 * @few:   by image: totals of the other images, whose procedures have fewer samples
 */
struct calc_plan {
	double least;
	size_t most;
	bool *worth;
	struct image_analysis_totals *few;
};

/**
 * struct calc_plan_rules - decisions of the caller about images
 * @is_chosen: return true if an image is to be considered
 * @is_usable: return true if an open image can be analysed; the others are treated as those that
 *             could not be opened
 * @context:   for both
 */
struct calc_plan_rules {
	bool (*is_chosen)(const void *context, const struct calc_image *image);
	bool (*is_usable)(const void *context, const struct calc_choice *choice);
	const void *context;
};

/** calc_plan_set() - parse the argument of --min-samples. Return: 0 or -EINVAL */
int calc_plan_set(struct calc_plan *plan, const char *argument, struct error *err);

/**
 * calc_plan_make() - determine @least and @worth
 * @plan:   freed by calc_plan_deinit(), also after a failure
 * @images: those that may be worth an analysis stay open in it
 *
 * Opens each image once, if a limit is set; else does nothing.
 *
 * Return: as open_images_visit().
 */
int calc_plan_make(struct calc_plan *plan, struct open_images *images,
		   const struct calc_plan_rules *rules, struct progress *progress);

/**
 * calc_plan_is_worth() - return true if an image may have procedures to analyse
 * @index: in calc_images
 */
static inline bool calc_plan_is_worth(const struct calc_plan *plan, size_t index)
{
	return plan->worth == NULL || plan->worth[index];
}

void calc_plan_deinit(struct calc_plan *plan);

#endif
