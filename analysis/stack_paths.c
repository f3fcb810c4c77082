// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/stack_paths.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/partition_point.h"

/* Least number of stacks for a comparison. */
#define STACKS_MIN 1.0
/* Relative variance of shares of time as shares of calls. */
#define SHARE_BIAS 0.5
/* Standard deviation of the logarithm of the calls of a procedure that is passed over. */
#define PASSED_SPREAD 0.1
/* The same, of a call that leads to the procedure by a jump in another one. */
#define JUMP_SPREAD 0.3

/*
 * With this share of a procedure's stacks in known calls, and of a call's stacks in the procedure,
 * and this number of stacks, other calls are not assumed.
 */
#define CERTAIN_PART 0.9
#define CERTAIN_STACKS 3.0

/*
 * struct stack_call - stacks in which a call leads to a procedure
 * @passed: most procedures that were passed over
 */
struct stack_call {
	const struct call_site *site;
	uint32_t procedure;
	uint32_t passed;
	double stacks;
};

/*
 * Interrupts and exceptions: the frame below is not a caller. A prefix is enough, because the names
 * of their entry points have one since Linux 5.8 (x86-64) and 5.13 (arm64).
 */
static bool is_interrupt(const struct image_code *code, uint64_t return_address)
{
	long index = image_code_find(code, return_address - 1);
	const char *name;

	if (index < 0)
		return false;
	name = procedure_table_get(image_code_procedures(code), (size_t)index)->name;
	return strncmp(name, "asm_", 4) == 0 || strncmp(name, "el1", 3) == 0;
}

static int path_add(struct place_list *paths, const struct image_code *code, int64_t image,
		    const struct image_stack *stack, uint32_t procedure)
{
	struct stack_path *path = place_list_add(paths);

	if (path == NULL)
		return -ENOMEM;
	*path = (struct stack_path){.procedure = procedure, .stacks = stack->stacks};
	for (size_t i = 0; i < IMAGE_STACK_CALLERS; i++) {
		const struct image_caller *caller = &stack->callers[i];

		if (caller->address != 0 && is_interrupt(code, caller->address))
			break;
		path->callers[i] = caller->address != 0
					   ? place_of(code, image, caller->address)
					   : (struct place){caller->image, caller->offset};
	}
	return 0;
}

int stack_paths_add(struct place_list *paths, const struct image_code *code,
		    const struct image_samples *samples, const struct image_range *parts,
		    size_t count, uint32_t procedure)
{
	int r = 0;

	for (size_t p = 0; p < count && r == 0; p++) {
		size_t at = partition_point(0, samples->stack_count, i,
					    samples->stacks[i].address < parts[p].start);

		for (; at < samples->stack_count && samples->stacks[at].address < parts[p].end &&
		       r == 0;
		     at++)
			r = path_add(paths, code, samples->image, &samples->stacks[at], procedure);
	}
	return r;
}

/* Find the innermost call of a path that has an estimate. */
static struct stack_call call_find(const struct stack_path *path, const struct place_list *sites)
{
	struct stack_call call = {.procedure = path->procedure, .stacks = path->stacks};

	for (uint32_t i = 0; i < IMAGE_STACK_CALLERS && call.site == NULL; i++) {
		if (path->callers[i].offset == 0)
			break;
		call.site = place_list_find(sites, &path->callers[i]);
		call.passed = i;
	}
	return call;
}

/* Sort by procedure, then by site. */
static int stack_call_compare(const void *a, const void *b)
{
	const struct stack_call *x = a, *y = b;

	if (x->procedure != y->procedure)
		return x->procedure < y->procedure ? -1 : 1;
	return (x->site > y->site) - (x->site < y->site);
}

static size_t calls_merge(struct stack_call *calls, size_t count)
{
	size_t kept = 0;

	qsort(calls, count, sizeof(*calls), stack_call_compare);
	for (size_t i = 0; i < count; i++) {
		struct stack_call *last = kept > 0 ? &calls[kept - 1] : NULL;

		if (last == NULL || stack_call_compare(last, &calls[i]) != 0) {
			calls[kept++] = calls[i];
			continue;
		}
		last->stacks += calls[i].stacks;
		if (calls[i].passed > last->passed)
			last->passed = calls[i].passed;
	}
	return kept;
}

/*
 * struct sums - sums of stacks
 * @sites:     all calls
 * @procedure: by procedure; @known: those in known calls
 * @site:      by site, without those of the target of a direct call
 */
struct sums {
	const struct call_site *sites;
	double *procedure;
	double *known;
	double *site;
};

static bool is_direct(const struct stack_call *call)
{
	return call->site->callee == call->procedure;
}

static bool is_certain(const struct stack_call *call, const struct sums *sums, double share)
{
	double all = sums->procedure[call->procedure];

	return share >= CERTAIN_PART && all >= CERTAIN_STACKS &&
	       sums->known[call->procedure] >= CERTAIN_PART * all;
}

static int pair_add(struct place_list *pairs, const struct stack_call *call,
		    const struct call_network_procedure *network, const struct sums *sums,
		    double share)
{
	const struct call_network_procedure *callee = &network[call->procedure];
	struct call_network_pair *pair = place_list_add(pairs);
	double part = call->stacks / sums->procedure[call->procedure];
	double unseen = 1 / (sums->procedure[call->procedure] + 2);
	double variance = pow(call->site->spread, 2) + pow(PASSED_SPREAD * call->passed, 2);

	if (pair == NULL)
		return -ENOMEM;
	if (!is_direct(call) && call->site->target.offset != 0)
		variance += JUMP_SPREAD * JUMP_SPREAD;
	variance += (1 - share) * (1 / call->stacks + SHARE_BIAS);
	*pair = (struct call_network_pair){
		.caller = call->site->caller,
		.callee = call->procedure,
		.ratio = callee->all_executions * part / (call->site->calls * share),
		.spread = sqrt(variance + (1 - part) * (1 / call->stacks + SHARE_BIAS) +
			       unseen * unseen + callee->entry_spread * callee->entry_spread),
		.part = part,
		.certain = is_certain(call, sums, share),
		.site_spread = sqrt(variance),
	};
	return 0;
}

static int calls_compare(const struct stack_call *calls, size_t count, const struct sums *sums,
			 const struct call_network_procedure *network, struct place_list *pairs)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct stack_call *call = &calls[i];
		double share =
			is_direct(call) ? 1 : call->stacks / sums->site[call->site - sums->sites];

		if (call->stacks >= STACKS_MIN && network[call->procedure].all_executions > 0)
			r = pair_add(pairs, call, network, sums, share);
	}
	return r;
}

static int stack_call_by_site(const void *a, const void *b)
{
	const struct stack_call *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (x->procedure > y->procedure) - (x->procedure < y->procedure);
}

static int target_add(struct place_list *targets, const struct stack_call *call,
		      const struct call_network_procedure *network, const struct sums *sums)
{
	const struct call_network_procedure *callee = &network[call->procedure];
	struct call_network_target *target = place_list_add(targets);

	if (target == NULL)
		return -ENOMEM;
	*target = (struct call_network_target){
		.site = (size_t)(call->site - sums->sites),
		.caller = call->site->caller,
		.callee = call->procedure,
		.part = callee->all_executions * call->stacks / sums->procedure[call->procedure] /
			call->site->calls,
		.spread = hypot(callee->entry_spread, PASSED_SPREAD * call->passed),
		.site_spread = call->site->spread,
	};
	return 0;
}

/*
 * A call executes as often as its callees together, in any proportion. Each callee must have
 * stacks only in known calls.
 */
static int targets_find(struct stack_call *calls, size_t count, const struct sums *sums,
			const struct call_network_procedure *network, struct place_list *targets)
{
	int r = 0;

	qsort(calls, count, sizeof(*calls), stack_call_by_site);
	for (size_t first = 0, end; first < count && r == 0; first = end) {
		bool complete = true;

		for (end = first; end < count && calls[end].site == calls[first].site; end++)
			complete &= !is_direct(&calls[end]) && is_certain(&calls[end], sums, 1) &&
				    network[calls[end].procedure].all_executions > 0;
		for (size_t i = first; complete && end > first + 1 && i < end && r == 0; i++)
			r = target_add(targets, &calls[i], network, sums);
	}
	return r;
}

int stack_paths_compare(const struct place_list *paths, const struct place_list *sites,
			const struct place_list *network, const double *returned,
			struct place_list *pairs, struct place_list *targets)
{
	const struct stack_path *path = paths->items;
	_cleanup_free_ struct stack_call *calls = calloc(paths->count + 1, sizeof(*calls));
	_cleanup_free_ double *by_procedure = calloc(network->count + 1, sizeof(double));
	_cleanup_free_ double *known = calloc(network->count + 1, sizeof(double));
	_cleanup_free_ double *by_site = calloc(sites->count + 1, sizeof(double));
	const struct call_site *first = sites->items;
	struct sums sums = {first, by_procedure, known, by_site};
	size_t count = 0;
	int r;

	if (calls == NULL || by_procedure == NULL || known == NULL || by_site == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < paths->count; i++) {
		calls[count] = call_find(&path[i], sites);
		by_procedure[path[i].procedure] += path[i].stacks;
		if (calls[count].site == NULL || returned[path[i].procedure] >= STACKS_MIN ||
		    calls[count].site->caller == path[i].procedure)
			continue;
		if (!is_direct(&calls[count]))
			by_site[calls[count].site - first] += path[i].stacks;
		known[path[i].procedure] += path[i].stacks;
		count++;
	}
	count = calls_merge(calls, count);
	r = calls_compare(calls, count, &sums, network->items, pairs);
	return r == 0 ? targets_find(calls, count, &sums, network->items, targets) : r;
}
