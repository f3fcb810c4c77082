/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sample store as the policy simulator sees it: which entry a sample finds,
 * and which has to go; nothing of buffers, readers or interrupts.
 */
#ifndef DCPI_TESTS_POLICY_MODEL_H
#define DCPI_TESTS_POLICY_MODEL_H

#include <stdint.h>

#include "tests/policy_hash.h"

#define POLICY_WAYS_MAX 8

/**
 * enum policy_order - which entry of a full set goes, and where entries stand
 * @POLICY_MOD:       the next in turn, by one counter for the whole table, if no
 *                    place is free; the
 *                    new entry takes its place. What DCPI had.
 * @POLICY_BLIND:     the same, but free places are not looked for: the next in
 *                    turn is taken, and evicted if it was in use
 * @POLICY_FRONT:     the last; the new one goes to the front, the others move
 *                    back by one. (So free places are always the last ones.)
 * @POLICY_SWAP:      the same, and a hit changes places with the entry at the
 *                    front. What DCPI's authors wanted next.
 * @POLICY_SWAP_MOD:  the next in turn of all but the front; the new one goes to
 *                    the front, and the entry there to the place that is free.
 *                    A hit changes places with the front.
 * @POLICY_LRU:       the one not used for the longest time: a hit goes to the
 *                    front, those before it move back by one
 * @POLICY_RANDOM:    any; the new entry takes its place
 * @POLICY_FEWEST:    the one with the lowest count, in turn if there are
 *                    several; the new entry takes its place
 * @POLICY_FRONT_MOD: the next in turn of all but the front; the new one goes to
 *                    the front, and the entry there to the place that is free.
 *                    Hits move nothing.
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

/* What kmod/core/sample_store.c does. */
#define POLICY_SHIPPED_ORDER POLICY_SWAP

/** policy_order_name() - for tables. */
const char *policy_order_name(enum policy_order order);

/**
 * struct policy - a store to simulate
 * @entries: in all; with 6 ways a few stay unused
 * @ways:    entries in a set, 1 .. POLICY_WAYS_MAX
 */
struct policy {
	uint32_t entries;
	uint32_t ways;
	enum policy_order order;
	const struct policy_hash *hash;
};

/**
 * struct policy_counts - what a store did
 * @hits:        by the place where the entry was found
 * @misses:      all others
 * @evictions:   misses that had to throw an entry out
 * @flushed:     entries taken out by flushes
 * @hits_moved:  hits that had entries change places
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

/** policy_hits() - hits at any place. */
uint64_t policy_hits(const struct policy_counts *counts);

/** policy_counts_add() - add @more to @sum. */
void policy_counts_add(struct policy_counts *sum, const struct policy_counts *more);

struct policy_model;

/** policy_model_create() - an empty store. Return: NULL: out of memory. */
struct policy_model *policy_model_create(const struct policy *policy);

/** policy_model_count() - count one sample; @tag without a count. */
void policy_model_count(struct policy_model *model, uint64_t pc, uint64_t tag);

/** policy_model_flush() - take all entries out. */
void policy_model_flush(struct policy_model *model);

/** policy_model_counts() - so far; the model's. */
const struct policy_counts *policy_model_counts(const struct policy_model *model);

/** policy_model_destroy() - NULL is fine. */
void policy_model_destroy(struct policy_model *model);

#endif
