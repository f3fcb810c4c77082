// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calc/calc_method.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"

/* The known names, each preceded by a blank. */
struct names {
	char text[256];
	size_t length;
};

static void add_name(struct names *names, const char *name)
{
	if (names->length < sizeof(names->text))
		names->length += (size_t)snprintf(names->text + names->length,
						  sizeof(names->text) - names->length, " %s", name);
}

static int unknown_name(const char *what, const char *name, const struct names *known,
			struct error *err)
{
	return error_set(err, EINVAL, "there is no %s \"%s\"; there are:%s", what, name,
			 known->text);
}

static int set_frequencies(enum calc_frequencies *ret, const char *name, struct error *err)
{
	if (strcmp(name, "estimate") == 0)
		*ret = CALC_FREQUENCIES_ESTIMATE;
	else if (strcmp(name, "exact") == 0)
		*ret = CALC_FREQUENCIES_EXACT;
	else
		return error_set(err, EINVAL,
				 "there are no frequencies \"%s\"; there are: estimate exact",
				 name);
	return 0;
}

static int set_scale(double *ret, const char *text, struct error *err)
{
	char *end;

	*ret = strtod(text, &end);
	if (end == text || *end != '\0' || !isfinite(*ret) || !(*ret > 0))
		return error_set(err, EINVAL, "\"%s\" is no scale: a number over 0", text);
	return 0;
}

static int set_model(const struct machine_model **ret, const char *name, struct error *err)
{
	const struct machine_model *const *list = machine_model_list();
	struct names known = {.length = 0};

	*ret = machine_model_find(name);
	if (*ret != NULL)
		return 0;
	for (size_t i = 0; list[i] != NULL; i++)
		add_name(&known, list[i]->name);
	return unknown_name("model", name, &known, err);
}

static int set_estimator(const struct frequency_estimator **ret, const char *name,
			 struct error *err)
{
	const struct frequency_estimator *const *list = frequency_estimator_list();
	struct names known = {.length = 0};

	*ret = frequency_estimator_find(name);
	if (*ret != NULL)
		return 0;
	for (size_t i = 0; list[i] != NULL; i++)
		add_name(&known, list[i]->name);
	return unknown_name("estimator", name, &known, err);
}

int calc_method_set(struct calc_method *method, int key, const char *argument, struct error *err)
{
	switch (key) {
	case CALC_METHOD_MODEL:
		return set_model(&method->model, argument, err);
	case CALC_METHOD_ESTIMATOR:
		return set_estimator(&method->estimator, argument, err);
	case CALC_METHOD_FREQUENCY:
		return set_frequencies(&method->frequencies, argument, err);
	case CALC_METHOD_SCALE:
		return set_scale(&method->scale, argument, err);
	default:
		method->as_published = true;
		return 0;
	}
}

int calc_method_check(const struct calc_method *method, struct error *err)
{
	if (method->as_published && method->estimator != NULL)
		return error_set(err, EINVAL, "--as-published and --estimator exclude each other");
	if (method->as_published && method->frequencies == CALC_FREQUENCIES_EXACT)
		return error_set(err, EINVAL,
				 "--as-published and --frequency exact exclude each other");
	if (method->scale > 0 && !calc_method_counts(method))
		return error_set(err, EINVAL, "--scale is of exact counts, not of estimates");
	return 0;
}

bool calc_method_counts(const struct calc_method *method)
{
	return method->frequencies != CALC_FREQUENCIES_ESTIMATE && !method->as_published;
}

void calc_method_apply(const struct calc_method *method, struct image_analysis_options *options)
{
	options->estimator =
		method->as_published ? frequency_estimator_find("paper") : method->estimator;
	options->published = method->as_published;
	options->tie_calls = options->tie_calls && !method->as_published;
}
