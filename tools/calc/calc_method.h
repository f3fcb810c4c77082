/* SPDX-License-Identifier: GPL-2.0-only */
/* How procedures are to be analysed, as options name it. */
#ifndef DCPI_CALC_METHOD_H
#define DCPI_CALC_METHOD_H

#include <stdbool.h>

#include "analysis/procedure_analysis.h"

struct error;

/** struct calc_method - how to analyse; all zero: the default. */
struct calc_method {
	const struct machine_model *model;	     /* NULL: of the machine that was profiled */
	const struct frequency_estimator *estimator; /* NULL: the default */
	bool as_published;
};

/** calc_method_check() - whether what was asked for goes together. Return: 0 or -EINVAL. */
int calc_method_check(const struct calc_method *method, struct error *err);

/** calc_method_model() - a model by its name. Return: 0; -EINVAL there is none: @err lists them. */
int calc_method_model(const struct machine_model **ret, const char *name, struct error *err);

/** calc_method_estimator() - an estimator, likewise. */
int calc_method_estimator(const struct frequency_estimator **ret, const char *name,
			  struct error *err);

#endif
