// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/probe_pairs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/frequency/call_network.h"

/*
 * Standard deviation of a pair's logarithm that does not shrink with counts: procedures are probed
 * together only where both are executed, for a few windows.
 */
#define PAIR_BIAS 0.3

/*
 * struct comparison - comparison of two procedures by two branches
 * @ratio:  a logarithm, as in struct call_network_pair
 * @weight: 1 / its variance
 * @whole:  from complete reference iterations
 */
struct comparison {
	uint32_t caller;
	uint32_t callee;
	double ratio;
	double weight;
	bool whole;
};

static int add_one(struct place_list *probed, const struct probed *one)
{
	struct probed *added = one->count > 0 ? place_list_add(probed) : NULL;

	if (added != NULL)
		*added = *one;
	return added == NULL && one->count > 0 ? -ENOMEM : 0;
}

/* Add the executions of a block's branch while another one was probed. */
static int add_branch(struct place_list *probed, const struct probed *about,
		      const struct branch_count *branch, const struct image_samples *samples,
		      const struct image_code *code)
{
	struct probed one = *about;
	int r;

	if (branch->to == branch->from)
		return 0;
	one.at = place_of(code, samples->image, branch->from);
	one.other = place_of_target(code, samples->image, branch);
	one.count = branch->beside;
	r = add_one(probed, &one);
	if (r < 0)
		return r;
	one.whole = true;
	one.count = branch->reference_executions;
	return add_one(probed, &one);
}

int probe_pairs_add(struct place_list *probed, const struct image_code *code,
		    const struct image_samples *samples, const struct procedure_analysis *analysis,
		    uint32_t procedure, const struct frequency_flow_scale *scale)
{
	const struct cfg *cfg = analysis->cfg;
	int r = 0;

	for (uint32_t b = 0; samples->branch_count > 0 && b < cfg->block_count; b++) {
		const struct frequency_estimate *estimate = &analysis->frequency.blocks[b];
		const struct cfg_block *block = &cfg->blocks[b];
		uint64_t from = cfg->insns[block->first + block->count - 1].address;
		size_t i = image_samples_branch(samples, from);
		struct probed about = {.procedure = procedure, .executions = estimate->value};

		if (estimate->value <= 0 || i == samples->branch_count ||
		    samples->branches[i].from != from)
			continue;
		about.spread = frequency_flow_spread(estimate, scale);
		for (; r == 0 && i < samples->branch_count && samples->branches[i].from == from;
		     i++)
			r = add_branch(probed, &about, &samples->branches[i], samples, code);
		if (r < 0)
			return r;
	}
	return 0;
}

static int compare_probed(const void *a, const void *b)
{
	const struct probed *x = a, *y = b;
	int order = place_compare(&x->at, &y->at);

	if (order == 0)
		order = place_compare(&x->other, &y->other);
	return order != 0 ? order : (int)x->whole - (int)y->whole;
}

static int compare_procedures(const void *a, const void *b)
{
	const struct comparison *x = a, *y = b;

	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	return (x->callee > y->callee) - (x->callee < y->callee);
}

static const struct probed *find_other(const struct place_list *probed, const struct probed *one)
{
	const struct probed key = {.at = one->other, .other = one->at, .whole = one->whole};

	return bsearch(&key, probed->items, probed->count, sizeof(key), compare_probed);
}

static double variance_of(const struct probed *one, const struct probed *other)
{
	const struct profile_reference reference = {.executions = {one->count, other->count}};
	double counts = one->whole ? profile_reference_variance(&reference)
				   : 1 / one->count + 1 / other->count;

	return one->spread * one->spread + other->spread * other->spread + counts;
}

/* Compare each pair of branches once, for the procedure that was added first. */
static int probe_pairs_compare(struct place_list *comparisons, const struct probed *one,
			       const struct probed *other)
{
	struct comparison *comparison;

	if (other == NULL || one->procedure >= other->procedure)
		return 0;
	comparison = place_list_add(comparisons);
	if (comparison == NULL)
		return -ENOMEM;
	*comparison = (struct comparison){
		.caller = one->procedure,
		.callee = other->procedure,
		.ratio = log(other->executions / one->executions * one->count / other->count),
		.weight = 1 / variance_of(one, other),
		.whole = one->whole,
	};
	return 0;
}

/* Add the comparisons of one kind between two procedures. */
static void add_kind(const struct comparison *first, size_t count, bool whole, double *sum,
		     double *weight)
{
	double own_sum = 0, own = 0, all;

	for (size_t i = 0; i < count; i++) {
		if (first[i].whole != whole)
			continue;
		own_sum += first[i].ratio * first[i].weight;
		own += first[i].weight;
	}
	if (own <= 0)
		return;
	all = whole ? own : 1 / (1 / own + PAIR_BIAS * PAIR_BIAS);
	*sum += own_sum / own * all;
	*weight += all;
}

static int probe_pairs_add_pair(struct place_list *pairs, const struct comparison *first,
				size_t count)
{
	struct call_network_pair *pair = place_list_add(pairs);
	double sum = 0, weight = 0;

	if (pair == NULL)
		return -ENOMEM;
	add_kind(first, count, false, &sum, &weight);
	add_kind(first, count, true, &sum, &weight);
	*pair = (struct call_network_pair){
		.caller = first->caller,
		.callee = first->callee,
		.ratio = exp(sum / weight),
		.spread = 1 / sqrt(weight),
	};
	return 0;
}

static int add_pairs(struct place_list *pairs, const struct place_list *comparisons)
{
	const struct comparison *list = comparisons->items;
	int r = 0;

	for (size_t first = 0, end; first < comparisons->count && r == 0; first = end) {
		end = first + 1;
		while (end < comparisons->count &&
		       compare_procedures(&list[first], &list[end]) == 0)
			end++;
		r = probe_pairs_add_pair(pairs, &list[first], end - first);
	}
	return r;
}

int probe_pairs_find(struct place_list *probed, struct place_list *pairs)
{
	struct place_list comparisons = {.bytes = sizeof(struct comparison)};
	const struct probed *list = probed->items;
	int r = 0;

	if (probed->count == 0)
		return 0;
	qsort(probed->items, probed->count, probed->bytes, compare_probed);
	for (size_t i = 0; i < probed->count && r == 0; i++)
		r = probe_pairs_compare(&comparisons, &list[i], find_other(probed, &list[i]));
	if (r == 0 && comparisons.count > 0) {
		qsort(comparisons.items, comparisons.count, sizeof(struct comparison),
		      compare_procedures);
		r = add_pairs(pairs, &comparisons);
	}
	free(comparisons.items);
	return r;
}
