// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_method.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"

#define NAMES_MAX 32

static int set_frequencies(enum calc_frequencies *ret, const char *name, struct error *err)
{
	static const char *const names[] = {"estimate", "exact"};

	if (strcmp(name, names[0]) == 0)
		*ret = CALC_FREQUENCIES_ESTIMATE;
	else if (strcmp(name, names[1]) == 0)
		*ret = CALC_FREQUENCIES_EXACT;
	else
		return near_names_unknown(err, "kind of frequency", name, names,
					  sizeof(names) / sizeof(*names));
	return 0;
}

static int set_scale(double *ret, const char *text, struct error *err)
{
	char *end;

	*ret = strtod(text, &end);
	if (end == text || *end != '\0' || !isfinite(*ret) || !(*ret > 0))
		return error_set(err, EINVAL, "'%s' is not a valid scale: use a number above 0",
				 text);
	return 0;
}

static int set_model(const struct machine_model **ret, const char *name, struct error *err)
{
	const struct machine_model *const *list = machine_model_list();
	const char *names[NAMES_MAX];
	size_t count = 0;

	*ret = machine_model_find(name);
	if (*ret != NULL)
		return 0;
	for (; list[count] != NULL && count < NAMES_MAX; count++)
		names[count] = list[count]->name;
	return near_names_unknown(err, "model", name, names, count);
}

static int set_estimator(const struct frequency_estimator **ret, const char *name,
			 struct error *err)
{
	const struct frequency_estimator *const *list = frequency_estimator_list();
	const char *names[NAMES_MAX];
	size_t count = 0;

	*ret = frequency_estimator_find(name);
	if (*ret != NULL)
		return 0;
	for (; list[count] != NULL && count < NAMES_MAX; count++)
		names[count] = list[count]->name;
	return near_names_unknown(err, "estimator", name, names, count);
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
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--as-published", "--estimator"));
	if (method->as_published && method->frequencies == CALC_FREQUENCIES_EXACT)
		return error_set(err, EINVAL,
				 ERROR_EXCLUSIVE("--as-published", "--frequency exact"));
	if (method->scale > 0 && !calc_method_counts(method))
		return error_set(err, EINVAL, "--scale needs exact counts, not estimates");
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
