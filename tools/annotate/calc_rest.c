// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_rest.h"

#include <json-c/json.h>

#include "tools/base/json_tree.h"

static const char *const keys[CALC_REST_REASONS] = {
	[CALC_REST_FEW] = "few_samples",
	[CALC_REST_NO_CODE] = "no_code",
	[CALC_REST_OUTSIDE] = "outside_procedures",
	[CALC_REST_FAILED] = "failed",
	[CALC_REST_CONTRADICTED] = "contradicted",
};

void calc_rest_add(struct calc_rest *rest, enum calc_rest_reason reason, double samples,
		   size_t count)
{
	if (!(samples > 0))
		return;
	rest->samples[reason] += samples;
	rest->count[reason] += count;
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static void print_reason(FILE *stream, const struct calc_rest *rest, enum calc_rest_reason reason)
{
	size_t count = rest->count[reason];

	switch (reason) {
	case CALC_REST_FEW:
		fprintf(stream, "in %zu procedure%s with fewer than %.0f samples", count,
			plural(count), rest->least);
		break;
	case CALC_REST_NO_CODE:
		fprintf(stream,
			"in %zu image%s whose code is neither in a file nor in the database", count,
			plural(count));
		break;
	case CALC_REST_OUTSIDE:
		fputs("outside of procedures, or in code that cannot be decoded", stream);
		break;
	case CALC_REST_FAILED:
		fprintf(stream, "in %zu image%s that cannot be analysed", count, plural(count));
		break;
	default:
		fprintf(stream, "in %zu procedure%s with estimates that contradict the samples",
			count, plural(count));
	}
}

void calc_rest_print(FILE *stream, const struct calc_rest *rest, double all)
{
	const char *label = "left out";

	for (unsigned int reason = 0; reason < CALC_REST_REASONS; reason++) {
		double percent = all > 0 ? 100 * rest->samples[reason] / all : 0;

		if (!(rest->samples[reason] > 0))
			continue;
		fprintf(stream, "%-12s%.*f%% ", label, percent < 0.1 ? 2 : 1, percent);
		print_reason(stream, rest, reason);
		fputc('\n', stream);
		label = "";
	}
}

struct json_object *calc_rest_json(const struct calc_rest *rest)
{
	struct json_object *object = json_object_new_object();

	for (unsigned int reason = 0; object != NULL && reason < CALC_REST_REASONS; reason++) {
		if (json_tree_add(object, keys[reason],
				  json_object_new_double(rest->samples[reason])) < 0) {
			json_object_put(object);
			return NULL;
		}
	}
	return object;
}
