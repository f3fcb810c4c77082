// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image_calls.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/call_network.h"
#include "analysis/frequency_estimators.h"
#include "lib/array.h"

/* Intervals of estimates hold nine in ten: so many standard deviations to either side. */
#define INTERVAL_SIGMAS 1.645

#define WEIGHT_MAX 1e9

/* Of a procedure that mostly calls itself, its calls from outside are lost in the noise. */
#define RECURSION_MAX 0.9

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

/*
 * @number: of each procedure, its place in @network, or UINT32_MAX; only those of
 *          out-of-order machines are there, whose estimates have a factor in common
 */
struct image_calls {
	struct image_code *code;
	struct procedure_calls *procedures;
	size_t count;
	uint32_t *number;
	struct call_network_procedure *network;
	size_t network_count;
	size_t network_capacity;
	struct call_network_call *ties;
	size_t tie_count;
	size_t tie_capacity;
};

int image_calls_create(struct image_calls **ret, struct image_code *code)
{
	struct image_calls *calls = calloc(1, sizeof(*calls));

	if (calls == NULL)
		return -ENOMEM;
	calls->code = code;
	calls->count = procedure_table_count(image_code_procedures(code));
	calls->procedures = calloc(calls->count + 1, sizeof(*calls->procedures));
	calls->number = malloc((calls->count + 1) * sizeof(*calls->number));
	if (calls->procedures == NULL || calls->number == NULL) {
		image_calls_destroy(calls);
		return -ENOMEM;
	}
	memset(calls->number, 0xff, (calls->count + 1) * sizeof(*calls->number));
	*ret = calls;
	return 0;
}

void image_calls_destroy(struct image_calls *calls)
{
	if (calls == NULL)
		return;
	free(calls->procedures);
	free(calls->number);
	free(calls->network);
	free(calls->ties);
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

/* How often a call is made, or a jump out of the procedure is taken. */
static const struct frequency_estimate *call_estimate(const struct procedure_analysis *analysis,
						      const struct cfg_call *call)
{
	const struct cfg *cfg = analysis->cfg;
	uint32_t index = cfg->block_of[call->insn];
	const struct cfg_block *block = &cfg->blocks[index];

	for (uint32_t e = block->out; call->tail && e < block->out + block->out_count; e++)
		if (cfg->edges[e].kind == CFG_EDGE_TAIL && cfg->edges[e].target == call->target)
			return &analysis->frequency.edges[e];
	return &analysis->frequency.blocks[index];
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

/* What of a spread is not that of the procedure's factor. */
static double beside(double spread, double scale_spread)
{
	return sqrt(fmax(0, spread * spread - scale_spread * scale_spread));
}

/* The factor is as certain as the block that is most certain. */
static double scale_spread(const struct procedure_analysis *analysis)
{
	double least = INFINITY;

	for (uint32_t b = 0; b < analysis->cfg->block_count; b++) {
		const struct frequency_estimate *estimate = &analysis->frequency.blocks[b];

		if (estimate->origin == FREQUENCY_JOINT)
			least = fmin(least, frequency_flow_spread(estimate));
	}
	return least;
}

static uint32_t number_of(struct image_calls *calls, size_t index)
{
	if (calls->number[index] != UINT32_MAX)
		return calls->number[index];
	if (array_reserve(&calls->network, &calls->network_capacity, calls->network_count + 1,
			  sizeof(*calls->network)) < 0)
		return UINT32_MAX;
	calls->network[calls->network_count] =
		(struct call_network_procedure){.scale_spread = 1, .factor = 1};
	calls->number[index] = (uint32_t)calls->network_count;
	return (uint32_t)calls->network_count++;
}

/* Takes the entries for the procedure's executions, less the calls that it makes to itself. */
static void add_executions(struct call_network_procedure *procedure,
			   const struct procedure_analysis *analysis, double own_calls)
{
	const struct cfg *cfg = analysis->cfg;
	double executions = 0, spread = 0;

	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		const struct frequency_estimate *estimate = &analysis->frequency.edges[e];

		if (cfg->edges[e].kind != CFG_EDGE_ENTRY)
			continue;
		executions += estimate->value;
		spread = fmax(spread, frequency_flow_spread(estimate));
	}
	procedure->scale_spread = scale_spread(analysis);
	procedure->entry_spread = beside(spread, procedure->scale_spread);
	if (own_calls < RECURSION_MAX * executions)
		procedure->executions = executions - own_calls;
}

static int add_tie(struct image_calls *calls, uint32_t caller, size_t callee,
		   const struct frequency_estimate *estimate)
{
	uint32_t number = number_of(calls, callee);

	if (number == UINT32_MAX || array_reserve(&calls->ties, &calls->tie_capacity,
						  calls->tie_count + 1, sizeof(*calls->ties)) < 0)
		return -ENOMEM;
	calls->ties[calls->tie_count++] = (struct call_network_call){
		.caller = caller,
		.callee = number,
		.calls = estimate->value,
		.spread = beside(frequency_flow_spread(estimate),
				 calls->network[caller].scale_spread),
	};
	return 0;
}

static int add_to_network(struct image_calls *calls, const struct procedure_analysis *analysis)
{
	uint32_t caller = number_of(calls, analysis->index);
	double own_calls = 0;

	if (caller == UINT32_MAX)
		return -ENOMEM;
	calls->network[caller].scale_spread = scale_spread(analysis);
	for (uint32_t i = 0; i < analysis->cfg->call_count; i++) {
		const struct cfg_call *call = &analysis->cfg->calls[i];
		const struct frequency_estimate *estimate = call_estimate(analysis, call);
		long callee = find_callee(calls, call);

		if (callee == (long)analysis->index)
			own_calls += estimate->value;
		else if (callee >= 0 && estimate->value > 0 &&
			 add_tie(calls, caller, (size_t)callee, estimate) < 0)
			return -ENOMEM;
	}
	add_executions(&calls->network[caller], analysis, own_calls);
	return 0;
}

int image_calls_add(struct image_calls *calls, const struct procedure_analysis *analysis)
{
	if (!analysis->model->in_order)
		return analysis->profile.total > 0 ? add_to_network(calls, analysis) : 0;
	calls->procedures[analysis->index].own_low = entered_at_least(analysis);
	for (uint32_t i = 0; i < analysis->cfg->call_count; i++) {
		const struct cfg_call *call = &analysis->cfg->calls[i];
		const struct frequency_estimate *estimate = call_estimate(analysis, call);
		long callee = find_callee(calls, call);
		double sigma = estimate_sigma(estimate);

		if (callee < 0)
			continue;
		calls->procedures[callee].calls += estimate->value;
		calls->procedures[callee].variance += sigma * sigma;
	}
	return 0;
}

int image_calls_solve(struct image_calls *calls)
{
	return call_network_solve(calls->network, calls->network_count, calls->ties,
				  calls->tie_count);
}

void image_calls_apply(const struct image_calls *calls, size_t index,
		       struct procedure_profile *profile)
{
	const struct procedure_calls *procedure = &calls->procedures[index];
	double short_of = procedure->own_low - procedure->calls;

	if (calls->number[index] != UINT32_MAX)
		profile->slowness = 1 / calls->network[calls->number[index]].factor;
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
