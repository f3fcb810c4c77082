// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image_calls.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/u64_map.h"

/* Half the width of a 90% interval of an estimate, in standard deviations. */
#define INTERVAL_SIGMAS 1.645

#define WEIGHT_MAX 1e9

/*
 * The remainder for a site is evidence only if it is this many of its standard deviations above 0.
 */
#define LEFT_SIGMAS 3.0

/* struct amount - a number of executions, in the unit of struct frequency_estimate */
struct amount {
	double value;
	double variance;
};

/*
 * struct procedure_calls - executions of one procedure
 * @calls: by its callers' estimates
 * @own:   by its own samples; @own_low: lower bound
 */
struct procedure_calls {
	struct amount calls;
	struct amount own;
	double own_low;
};

/* @sites: by the address of a call: its index in @by_site, plus 1 */
struct image_calls {
	struct image_code *code;
	struct procedure_calls *procedures;
	size_t count;
	struct u64_map sites;
	struct amount *by_site;
	size_t site_count;
	size_t site_capacity;
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
	free(calls->by_site);
	u64_map_deinit(&calls->sites);
	free(calls);
}

static struct amount amount_of(const struct frequency_estimate *estimate)
{
	double sigma = (estimate->high - estimate->low) / (2 * INTERVAL_SIGMAS);

	return (struct amount){estimate->value, sigma * sigma};
}

static void add_amount(struct amount *to, const struct amount *what)
{
	to->value += what->value;
	to->variance += what->variance;
}

/* Find the procedure of an address. Some procedures are entered after their first instructions. */
static long find_callee(const struct image_calls *calls, const struct cfg_call *call)
{
	return call->target != 0 ? image_code_find(calls->code, call->target) : -1;
}

static void add_entries(struct procedure_calls *to, const struct procedure_analysis *analysis)
{
	const struct cfg *cfg = analysis->cfg;

	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		const struct frequency_estimate *estimate = &analysis->frequency.edges[e];
		struct amount amount = amount_of(estimate);

		if (cfg->edges[e].kind != CFG_EDGE_ENTRY)
			continue;
		add_amount(&to->own, &amount);
		to->own_low += estimate->low;
	}
}

static int keep_site(struct image_calls *calls, uint64_t address, const struct amount *amount)
{
	uint64_t *number = u64_map_insert(&calls->sites, address);

	if (number == NULL || array_reserve(&calls->by_site, &calls->site_capacity,
					    calls->site_count + 1, sizeof(*calls->by_site)) < 0)
		return -ENOMEM;
	calls->by_site[calls->site_count++] = *amount;
	*number = calls->site_count;
	return 0;
}

int image_calls_add(struct image_calls *calls, const struct procedure_analysis *analysis)
{
	const struct cfg *cfg = analysis->cfg;
	int r = 0;

	add_entries(&calls->procedures[analysis->index], analysis);
	for (uint32_t i = 0; r == 0 && i < cfg->call_count; i++) {
		const struct cfg_call *call = &cfg->calls[i];
		struct amount amount = amount_of(procedure_analysis_call(analysis, call));
		long callee = find_callee(calls, call);

		if (callee < 0)
			continue;
		add_amount(&calls->procedures[callee].calls, &amount);
		r = keep_site(calls, cfg->insns[call->insn].address, &amount);
	}
	return r;
}

/* Return the weight of an amount: 1 / its relative variance. */
static double image_calls_weight_of(const struct amount *amount)
{
	double square = amount->value * amount->value;

	return square < WEIGHT_MAX * amount->variance ? square / amount->variance : WEIGHT_MAX;
}

static void apply_callers(const struct procedure_calls *procedure,
			  struct procedure_profile *profile)
{
	double short_of = procedure->own_low - procedure->calls.value;

	if (procedure->calls.value <= 0)
		return;
	/* Significantly more executions than calls: it has other callers. */
	if (short_of > 0 && short_of * short_of > 4 * procedure->calls.variance)
		return;
	profile->calls_in = procedure->calls.value;
	profile->calls_in_weight = image_calls_weight_of(&procedure->calls);
}

/*
 * Estimate the calls of a procedure in one block, @count calls with equal executions, from the
 * callee: its own executions minus all other calls. @here: the caller's estimate of each call.
 * Return: true if the result is usable evidence.
 */
static bool find_left(struct amount *ret, const struct procedure_calls *callee,
		      const struct amount *here, double count)
{
	double left = callee->own.value - (callee->calls.value - count * here->value);
	double others = fmax(callee->calls.variance - count * here->variance, 0);
	double off;

	ret->value = left / count;
	ret->variance = (callee->own.variance + others) / (count * count);
	off = ret->value - here->value;
	return callee->own.value > 0 && ret->value > LEFT_SIGMAS * sqrt(ret->variance) &&
	       ret->variance < here->variance &&
	       off * off < LEFT_SIGMAS * LEFT_SIGMAS * (ret->variance + here->variance);
}

/* Return the same key for all calls of a procedure in a block. 0: the callee is unknown. */
static uint64_t call_key(const struct image_calls *calls, const struct cfg *cfg,
			 const struct cfg_call *call)
{
	long callee = find_callee(calls, call);
	uint64_t block = cfg->block_of[call->insn];

	return callee < 0 ? 0 : block << 33 | (uint64_t)call->tail << 32 | ((uint64_t)callee + 1);
}

/* Count the calls with equal keys. */
static int count_alike(struct u64_map *alike, const struct image_calls *calls,
		       const struct cfg *cfg)
{
	for (uint32_t i = 0; i < cfg->call_count; i++) {
		uint64_t *count = u64_map_insert(alike, call_key(calls, cfg, &cfg->calls[i]));

		if (count == NULL)
			return -ENOMEM;
		++*count;
	}
	return 0;
}

/* Add the evidence of callees once per block, except for recursive calls. */
static void add_derived(struct procedure_profile *profile, const struct image_calls *calls,
			const struct cfg *cfg, size_t index, const struct u64_map *alike,
			uint32_t number)
{
	const struct cfg_call *call = &cfg->calls[number];
	uint64_t key = call_key(calls, cfg, call);
	uint64_t *count = u64_map_find(alike, key);
	const uint64_t *site = u64_map_find(&calls->sites, cfg->insns[call->insn].address);
	size_t callee = (uint32_t)key - 1;
	struct amount left;

	if (key == 0 || callee == index || *count == 0 || site == NULL)
		return;
	if (find_left(&left, &calls->procedures[callee], &calls->by_site[*site - 1],
		      (double)*count))
		profile->derived[profile->derived_count++] = (struct profile_derived){
			.call = number,
			.executions = left.value,
			.weight = image_calls_weight_of(&left),
		};
	*count = 0;
}

static int apply_callees(const struct image_calls *calls, const struct cfg *cfg, size_t index,
			 struct procedure_profile *profile)
{
	struct u64_map alike = {0};
	int r = count_alike(&alike, calls, cfg);

	profile->derived = malloc((cfg->call_count + (size_t)1) * sizeof(*profile->derived));
	if (profile->derived == NULL)
		r = -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < cfg->call_count; i++)
		add_derived(profile, calls, cfg, index, &alike, i);
	u64_map_deinit(&alike);
	return r;
}

int image_calls_apply(const struct image_calls *calls, const struct cfg *cfg, size_t index,
		      struct procedure_profile *profile)
{
	apply_callers(&calls->procedures[index], profile);
	return apply_callees(calls, cfg, index, profile);
}
