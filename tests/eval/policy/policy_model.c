// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/policy/policy_model.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kmod/uapi/dcpi_uapi.h"

/* A place with a count of zero is free. */
struct entry {
	uint64_t pc;
	uint64_t tag;
	uint32_t count;
};

struct policy_model {
	struct policy policy;
	struct policy_counts counts;
	struct entry *entries;
	uint32_t sets;
	uint32_t turn;
	uint32_t random;
};

const char *policy_order_name(enum policy_order order)
{
	static const char *const names[POLICY_ORDERS] = {
		[POLICY_MOD] = "mod",
		[POLICY_BLIND] = "mod, blind",
		[POLICY_FRONT] = "front",
		[POLICY_SWAP] = "front + swap",
		[POLICY_SWAP_MOD] = "front, mod + swap",
		[POLICY_LRU] = "LRU",
		[POLICY_RANDOM] = "random",
		[POLICY_FEWEST] = "fewest",
		[POLICY_FRONT_MOD] = "front, mod",
	};

	return names[order];
}

uint64_t policy_hits(const struct policy_counts *counts)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < POLICY_WAYS_MAX; i++)
		sum += counts->hits[i];
	return sum;
}

void policy_counts_add(struct policy_counts *sum, const struct policy_counts *more)
{
	uint32_t i;

	for (i = 0; i < POLICY_WAYS_MAX; i++)
		sum->hits[i] += more->hits[i];
	sum->misses += more->misses;
	sum->evictions += more->evictions;
	sum->flushed += more->flushed;
	sum->hits_moved += more->hits_moved;
	sum->hit_shifts += more->hit_shifts;
	sum->miss_shifts += more->miss_shifts;
}

struct policy_model *policy_model_create(const struct policy *policy)
{
	struct policy_model *model = calloc(1, sizeof(*model));

	if (model == NULL)
		return NULL;
	model->policy = *policy;
	model->sets = policy->entries / policy->ways;
	model->random = 1;
	model->entries = calloc((size_t)model->sets * policy->ways, sizeof(*model->entries));
	if (model->entries == NULL) {
		free(model);
		return NULL;
	}
	return model;
}

static void entries_swap(struct entry *a, struct entry *b)
{
	struct entry c = *a;

	*a = *b;
	*b = c;
}

/* Move the entry at @way to the front, and those before it back by one. */
static void entry_to_front(struct entry *set, uint32_t way)
{
	struct entry entry = set[way];

	memmove(set + 1, set, way * sizeof(*set));
	set[0] = entry;
}

/* Return a random way, by Carta's generator. */
static uint32_t random_way(struct policy_model *model)
{
	model->random = (uint32_t)((uint64_t)model->random * 16807 % 0x7fffffff);
	return model->random % model->policy.ways;
}

static uint32_t fewest_way(struct policy_model *model, const struct entry *set)
{
	uint32_t ways = model->policy.ways, start = model->turn++ % ways, best = start, i, way;

	for (i = 1; i < ways; i++) {
		way = (start + i) % ways;
		if (set[way].count < set[best].count)
			best = way;
	}
	return best;
}

/* Return the way to evict from a full set. */
static uint32_t victim_way(struct policy_model *model, const struct entry *set)
{
	uint32_t ways = model->policy.ways;

	switch (model->policy.order) {
	case POLICY_MOD:
	case POLICY_BLIND:
		return model->turn++ % ways;
	case POLICY_SWAP_MOD:
	case POLICY_FRONT_MOD:
		return ways == 1 ? 0 : 1 + model->turn++ % (ways - 1);
	case POLICY_RANDOM:
		return random_way(model);
	case POLICY_FEWEST:
		return fewest_way(model, set);
	default:
		return ways - 1;
	}
}

static void hit_move(struct policy_model *model, struct entry *set, uint32_t way)
{
	if (way == 0)
		return;
	switch (model->policy.order) {
	case POLICY_SWAP:
	case POLICY_SWAP_MOD:
		entries_swap(&set[0], &set[way]);
		model->counts.hits_moved++;
		break;
	case POLICY_LRU:
		entry_to_front(set, way);
		model->counts.hits_moved++;
		model->counts.hit_shifts += way;
		break;
	default:
		break;
	}
}

/* Move entries after a new one was placed at @way. */
static void miss_move(struct policy_model *model, struct entry *set, uint32_t way)
{
	switch (model->policy.order) {
	case POLICY_FRONT:
	case POLICY_SWAP:
	case POLICY_LRU:
		entry_to_front(set, way);
		model->counts.miss_shifts += way;
		break;
	case POLICY_SWAP_MOD:
	case POLICY_FRONT_MOD:
		entries_swap(&set[0], &set[way]);
		model->counts.miss_shifts += way != 0;
		break;
	default:
		break;
	}
}

static void miss(struct policy_model *model, struct entry *set, uint64_t pc, uint64_t tag)
{
	uint32_t way = 0;

	while (way < model->policy.ways && set[way].count != 0)
		way++;
	if (way == model->policy.ways || model->policy.order == POLICY_BLIND)
		way = victim_way(model, set);
	model->counts.evictions += set[way].count != 0;
	set[way].pc = pc;
	set[way].tag = tag;
	set[way].count = 1;
	model->counts.misses++;
	miss_move(model, set, way);
}

void policy_model_count(struct policy_model *model, uint64_t pc, uint64_t tag)
{
	uint32_t number = model->policy.hash->hash(pc, tag) % model->sets, way;
	struct entry *set = &model->entries[(size_t)number * model->policy.ways];

	assert(model->policy.ways > 0);
	for (way = 0; way < model->policy.ways; way++) {
		if (set[way].count == 0 || set[way].pc != pc || set[way].tag != tag)
			continue;
		model->counts.hits[way]++;
		if (set[way].count == DCPI_COUNT_MAX) {
			set[way].count = 0;
			model->counts.evictions++;
		}
		set[way].count++;
		hit_move(model, set, way);
		return;
	}
	miss(model, set, pc, tag);
}

void policy_model_flush(struct policy_model *model)
{
	size_t i, count = (size_t)model->sets * model->policy.ways;

	for (i = 0; i < count; i++)
		model->counts.flushed += model->entries[i].count != 0;
	memset(model->entries, 0, count * sizeof(*model->entries));
}

const struct policy_counts *policy_model_counts(const struct policy_model *model)
{
	return &model->counts;
}

void policy_model_destroy(struct policy_model *model)
{
	if (model == NULL)
		return;
	free(model->entries);
	free(model);
}
