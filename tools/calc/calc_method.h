/* SPDX-License-Identifier: GPL-2.0-only */
/* How procedures are to be analysed, as options name it. */
#ifndef DCPI_CALC_METHOD_H
#define DCPI_CALC_METHOD_H

#include <stdbool.h>

#include "analysis/procedure_analysis.h"

struct error;

/** enum calc_frequencies - where it is from how often something ran. */
enum calc_frequencies {
	CALC_FREQUENCIES_BEST,	   /* exact counts where there are any, else estimates */
	CALC_FREQUENCIES_ESTIMATE, /* estimates only */
	CALC_FREQUENCIES_EXACT,	   /* exact counts only */
};

/**
 * struct calc_method - how to analyse; all zero: the default
 * @frequencies: estimated, or counted
 * @scale:       executions in the profiled period for each counted one; 0: to be found
 */
struct calc_method {
	const struct machine_model *model;	     /* NULL: of the machine that was profiled */
	const struct frequency_estimator *estimator; /* NULL: the default */
	bool as_published;
	enum calc_frequencies frequencies;
	double scale;
};

/** calc_method_check() - whether what was asked for goes together. Return: 0 or -EINVAL. */
int calc_method_check(const struct calc_method *method, struct error *err);

/** calc_method_counts() - whether exact counts are to be read. */
bool calc_method_counts(const struct calc_method *method);

/** calc_method_frequencies() - "estimate" or "exact". Return: 0 or -EINVAL. */
int calc_method_frequencies(enum calc_frequencies *ret, const char *name, struct error *err);

/** calc_method_scale() - a number over 0. Return: 0 or -EINVAL. */
int calc_method_scale(double *ret, const char *text, struct error *err);

/** calc_method_model() - a model by its name. Return: 0; -EINVAL there is none: @err lists them. */
int calc_method_model(const struct machine_model **ret, const char *name, struct error *err);

/** calc_method_estimator() - an estimator, likewise. */
int calc_method_estimator(const struct frequency_estimator **ret, const char *name,
			  struct error *err);

#endif
