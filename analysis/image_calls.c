// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image_calls.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Intervals of estimates hold nine in ten: so many standard deviations to either side. */
#define INTERVAL_SIGMAS 1.645

#define WEIGHT_MAX 1e9

/*
 * struct procedure_calls - of one procedure, all as struct frequency_estimate has it
 * @calls, @variance: by its callers
 * @own_low:          executions at least, by its own samples
 */
struct procedure_calls {
	double calls;
	double variance;
	double own_low;
};

struct image_calls {
	struct image_code *code;
	struct procedure_calls *procedures;
	size_t count;
};

int image_calls_create(struct image_calls **ret, struct image_code *code)
{
	struct image_calls *calls = calloc(1, sizeof(*calls));

	if (calls == NULL)
		return -ENOMEM;
	calls->code = code;
	calls->count = procedure_table_count(image_code_procedures(code));
	calls->procedures = calloc(calls->count + 1, sizeof(*calls->procedures));
	if (calls->procedures == NULL) {
		image_calls_destroy(calls);
		return -ENOMEM;
	}
	*ret = calls;
	return 0;
}

void image_calls_destroy(struct image_calls *calls)
{
	if (calls == NULL)
		return;
	free(calls->procedures);
	free(calls);
}

static double estimate_sigma(const struct frequency_estimate *estimate)
{
	return (estimate->high - estimate->low) / (2 * INTERVAL_SIGMAS);
}

/* The procedure that an address is in: some are entered behind their first instructions. */
static long find_callee(const struct image_calls *calls, const struct cfg_call *call)
{
	return call->target != 0 ? image_code_find(calls->code, call->target) : -1;
}

static double entered_at_least(const struct procedure_analysis *analysis)
{
	const struct cfg *cfg = analysis->cfg;
	double low = 0;

	for (uint32_t e = 0; e < cfg->edge_count; e++)
		if (cfg->edges[e].kind == CFG_EDGE_ENTRY)
			low += analysis->frequency.edges[e].low;
	return low;
}

int image_calls_add(struct image_calls *calls, const struct procedure_analysis *analysis)
{
	calls->procedures[analysis->index].own_low = entered_at_least(analysis);
	for (uint32_t i = 0; i < analysis->cfg->call_count; i++) {
		const struct cfg_call *call = &analysis->cfg->calls[i];
		const struct frequency_estimate *estimate = procedure_analysis_call(analysis, call);
		long callee = find_callee(calls, call);
		double sigma = estimate_sigma(estimate);

		if (callee < 0)
			continue;
		calls->procedures[callee].calls += estimate->value;
		calls->procedures[callee].variance += sigma * sigma;
	}
	return 0;
}

void image_calls_apply(const struct image_calls *calls, size_t index,
		       struct procedure_profile *profile)
{
	const struct procedure_calls *procedure = &calls->procedures[index];
	double short_of = procedure->own_low - procedure->calls;

	if (procedure->calls <= 0)
		return;
	/* More executions than calls, and not by chance: it has other callers. */
	if (short_of > 0 && short_of * short_of > 4 * procedure->variance)
		return;
	profile->calls_in = procedure->calls;
	profile->calls_in_weight = WEIGHT_MAX;
	if (procedure->calls * procedure->calls < WEIGHT_MAX * procedure->variance)
		profile->calls_in_weight =
			procedure->calls * procedure->calls / procedure->variance;
}
