/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Model of a sample store for the policy simulator: the entry that a sample hits, and the entry
 * that is evicted. Buffers, readers and interrupts are not modelled.
 */
#ifndef DCPI_TESTS_POLICY_MODEL_H
#define DCPI_TESTS_POLICY_MODEL_H

#include <stdint.h>

#include "tests/eval/policy/policy_hash.h"

#define POLICY_WAYS_MAX 8

/**
 * enum policy_order - choice of the evicted entry of a full set, and order of entries
 * @POLICY_MOD:       the next in rotation, by one counter for the whole table, if no
 *                    place is free; the new entry takes its place. DCPI's policy.
 * @POLICY_BLIND:     the same without searching for free places: the next place in
 *                    rotation is taken, and its entry evicted if it was in use
 * @POLICY_FRONT:     the last; the new one goes to the front, the others move
 *                    back by one. (So free places are always the last ones.)
 * @POLICY_SWAP:      the same, and a hit changes places with the entry at the
 *                    front. The policy proposed by DCPI's authors.
 * @POLICY_SWAP_MOD:  the next in rotation of all but the front; the new one goes to
 *                    the front, and the entry there to the place that is free.
 *                    A hit changes places with the front.
 * @POLICY_LRU:       the least recently used: a hit goes to the front, the entries
 *                    before it move back by one
 * @POLICY_RANDOM:    a random one; the new entry takes its place
 * @POLICY_FEWEST:    the one with the lowest count, in rotation if there are
 *                    several; the new entry takes its place
 * @POLICY_FRONT_MOD: the next in rotation of all but the front; the new one goes to
 *                    the front, and the entry there to the place that is free.
 *                    Hits do not move entries.
 */
enum policy_order {
	POLICY_MOD,
	POLICY_BLIND,
	POLICY_FRONT,
	POLICY_SWAP,
	POLICY_SWAP_MOD,
	POLICY_LRU,
	POLICY_RANDOM,
	POLICY_FEWEST,
	POLICY_FRONT_MOD,
	POLICY_ORDERS,
};

/* The order of kmod/core/sample_store.c. */
#define POLICY_SHIPPED_ORDER POLICY_SWAP

/** policy_order_name() - return the name for tables */
const char *policy_order_name(enum policy_order order);

/**
 * struct policy - a store to simulate
 * @entries: total number; with 6 ways a few stay unused
 * @ways:    entries in a set, 1 .. POLICY_WAYS_MAX
 */
struct policy {
	uint32_t entries;
	uint32_t ways;
	enum policy_order order;
	const struct policy_hash *hash;
};

/**
 * struct policy_counts - statistics of a store
 * @hits:        by the place where the entry was found
 * @misses:      all other samples
 * @evictions:   misses that evicted an entry
 * @flushed:     entries removed by flushes
 * @hits_moved:  hits that moved entries
 * @hit_shifts:  entries that hits moved back by one
 * @miss_shifts: entries that misses moved to make room at the front
 */
struct policy_counts {
	uint64_t hits[POLICY_WAYS_MAX];
	uint64_t misses;
	uint64_t evictions;
	uint64_t flushed;
	uint64_t hits_moved;
	uint64_t hit_shifts;
	uint64_t miss_shifts;
};

/** policy_hits() - return the hits at all places */
uint64_t policy_hits(const struct policy_counts *counts);

/** policy_counts_add() - add @more to @sum. */
void policy_counts_add(struct policy_counts *sum, const struct policy_counts *more);

struct policy_model;

/** policy_model_create() - create an empty store. Return: NULL if out of memory. */
struct policy_model *policy_model_create(const struct policy *policy);

/** policy_model_count() - count one sample; @tag has no count */
void policy_model_count(struct policy_model *model, uint64_t pc, uint64_t tag);

/** policy_model_flush() - remove all entries */
void policy_model_flush(struct policy_model *model);

/** policy_model_counts() - return the statistics so far; owned by the model */
const struct policy_counts *policy_model_counts(const struct policy_model *model);

/** policy_model_destroy() - free a model; NULL is allowed */
void policy_model_destroy(struct policy_model *model);

#endif
