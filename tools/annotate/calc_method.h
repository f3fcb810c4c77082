/* SPDX-License-Identifier: GPL-2.0-only */
/* Options that choose the method of analysis. */
#ifndef DCPI_CALC_METHOD_H
#define DCPI_CALC_METHOD_H

#include <stdbool.h>

#include "analysis/image_analysis.h"

struct error;

/** enum calc_frequencies - source of execution frequencies */
enum calc_frequencies {
	CALC_FREQUENCIES_BEST,	   /* exact counts if available, else estimates */
	CALC_FREQUENCIES_ESTIMATE, /* estimates only */
	CALC_FREQUENCIES_EXACT,	   /* exact counts only */
};

/**
 * struct calc_method - method of analysis; all zero: the default
 * @frequencies: estimated or counted
 * @scale:       executions in the profiled period per counted execution; 0: to be determined
 */
struct calc_method {
	const struct machine_model *model;	     /* NULL: of the profiled machine */
	const struct frequency_estimator *estimator; /* NULL: the default */
	bool as_published;
	enum calc_frequencies frequencies;
	double scale;
};

/* Keys of the options below; a program's own keys begin after them. */
enum calc_method_key {
	CALC_METHOD_MODEL = 1001,
	CALC_METHOD_ESTIMATOR,
	CALC_METHOD_FREQUENCY,
	CALC_METHOD_SCALE,
	CALC_METHOD_AS_PUBLISHED,
	CALC_METHOD_OWN,
};

/* Entries of a table of options (lib/options.h). */
/* clang-format off */
#define CALC_METHOD_OPTIONS \
	{CALC_METHOD_MODEL, "model", "NAME", \
	 "use this machine model: alpha21164, cortex-a53, ..."}, \
	{CALC_METHOD_ESTIMATOR, "estimator", "NAME", \
	 "estimate executions by dcpi, paper, avg or max"}, \
	{CALC_METHOD_FREQUENCY, "frequency", "SOURCE", \
	 "use executions from 'estimate', or 'exact' (counted by dcpix); " \
	 "default: exact if counted"}, \
	{CALC_METHOD_SCALE, "scale", "N", \
	 "multiply exact counts by N; default: from samples"}, \
	{CALC_METHOD_AS_PUBLISHED, "as-published", NULL, "analyse as in the paper of 1997"}
/* clang-format on */

/**
 * calc_method_set() - set one of these options
 * @key: an enum calc_method_key
 *
 * Return: 0; -EINVAL: the argument is unknown; @err lists the valid ones.
 */
int calc_method_set(struct calc_method *method, int key, const char *argument, struct error *err);

/** calc_method_check() - check that the options are compatible. Return: 0 or -EINVAL */
int calc_method_check(const struct calc_method *method, struct error *err);

/** calc_method_counts() - return true if exact counts are to be read */
bool calc_method_counts(const struct calc_method *method);

/** calc_method_apply() - apply the method; @options: with its model and tie_calls set */
void calc_method_apply(const struct calc_method *method, struct image_analysis_options *options);

#endif
