// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/policy/policy_cost.h"

#include <stdbool.h>

#define LAST (SAMPLE_WAYS - 1)

/* Entries of 16 bytes in a cache line of 64. */
#define LINE_WAYS 4

void policy_cost_init(struct policy_cost *cost, const struct policy_steps *steps)
{
	double hash = policy_hashes[0].instructions;

	cost->hit = steps->hit[0] - hash;
	cost->place = (double)(steps->hit[LAST] - steps->hit[1]) / (LAST - 1);
	cost->away = (double)steps->hit[1] - steps->hit[0];
	cost->miss = steps->evict - hash - SAMPLE_WAYS * cost->place - LAST * POLICY_SHIFT_COST;
	cost->free = (double)steps->evict - steps->free[LAST];
}

/*
 * Return true if a miss must search for a free place after comparing all keys. Orders that shift
 * entries know the free places: they are at the end. POLICY_BLIND ignores free places. A bucket of
 * one way has no others to search.
 */
static bool looks_for_free(const struct policy *policy)
{
	switch (policy->order) {
	case POLICY_BLIND:
	case POLICY_FRONT:
	case POLICY_SWAP:
	case POLICY_LRU:
		return false;
	default:
		return policy->ways > 1;
	}
}

/* Return the cost of choosing the entry to evict; choosing the last one is free. */
static double choice_cost(const struct policy *policy)
{
	if (policy->ways == 1)
		return 0;
	switch (policy->order) {
	case POLICY_FRONT:
	case POLICY_SWAP:
	case POLICY_LRU:
		return 0;
	case POLICY_RANDOM:
		return POLICY_RANDOM_COST;
	case POLICY_FEWEST:
		return POLICY_TURN_COST + POLICY_FEWEST_COST * policy->ways;
	default:
		return POLICY_TURN_COST;
	}
}

static double lines_touched(const struct policy *policy, const struct policy_counts *counts)
{
	double second = policy->ways > LINE_WAYS ? (double)counts->misses : 0;
	unsigned int i;

	for (i = LINE_WAYS; i < POLICY_WAYS_MAX; i++)
		second += (double)counts->hits[i];
	return second;
}

/* Orders that shift move whole sets, including free places: moving is cheaper than testing. */
static double misses_shifts(const struct policy *policy, const struct policy_counts *counts)
{
	if (policy->order == POLICY_SWAP_MOD || policy->order == POLICY_FRONT_MOD)
		return (double)counts->miss_shifts;
	return counts->miss_shifts > 0 ? (double)counts->misses * (policy->ways - 1) : 0;
}

/* Return true if hits move entries; then only hits at the front are handled in line. */
static bool hits_move(const struct policy *policy)
{
	return policy->order == POLICY_SWAP || policy->order == POLICY_SWAP_MOD ||
	       policy->order == POLICY_LRU;
}

static double hits_cost(const struct policy_cost *cost, const struct policy *policy,
			const struct policy_counts *counts)
{
	double sum = (double)policy_hits(counts) * cost->hit;
	unsigned int i;

	for (i = 1; i < POLICY_WAYS_MAX; i++) {
		if (hits_move(policy))
			sum += (double)counts->hits[i] * (cost->away + (i - 1) * cost->place);
		else
			sum += (double)counts->hits[i] * i * POLICY_PLACE_COST;
	}
	return sum;
}

double policy_cost_handler(const struct policy_cost *cost, const struct policy *policy,
			   const struct policy_counts *counts)
{
	double hits = (double)policy_hits(counts), misses = (double)counts->misses;
	double evictions = (double)counts->evictions;
	double sum = (hits + misses) * policy->hash->instructions;

	sum += hits_cost(cost, policy, counts);
	sum += misses * (cost->miss + policy->ways * cost->place);
	if (looks_for_free(policy))
		sum += misses * policy->ways * POLICY_LOOK_COST;
	sum -= (misses - evictions) * cost->free;
	sum += (policy->order == POLICY_BLIND ? misses : evictions) * choice_cost(policy);
	/* The price of a swap includes the first entry that a hit moves. */
	if (counts->hit_shifts > 0)
		sum += (double)(counts->hit_shifts - counts->hits_moved) * POLICY_SHIFT_COST;
	sum += misses_shifts(policy, counts) * POLICY_SHIFT_COST;
	sum += lines_touched(policy, counts) * POLICY_LINE_COST;
	return sum / (hits + misses);
}

double policy_cost_system(const struct policy_cost *cost, const struct policy *policy,
			  const struct policy_counts *counts)
{
	double samples = (double)policy_hits(counts) + (double)counts->misses;
	double delivered = (double)counts->evictions + (double)counts->flushed;

	return policy_cost_handler(cost, policy, counts) +
	       POLICY_DELIVERY_COST * delivered / samples;
}
