/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many different values a stream has, how many of them occurred once or twice, and how often
 * two occurrences are equal, in a fixed amount of memory.
 *
 * The sketch keeps the values with the smallest hashes, and counts the occurrences of each of them.
 * A value is kept from its first occurrence on or never, because the largest kept hash only gets
 * smaller: so the counts are exact, and the kept values are a random selection of all values.
 *
 * A random selection of values misses the few most frequent ones. So the frequency of equal
 * occurrences comes from comparisons with recent occurrences, which are a selection of all
 * occurrences.
 *
 * Source: Bar-Yossef et al., Counting Distinct Elements in a Data Stream, 2002 (k minimum values).
 * The error of the estimate is 1 / sqrt(DISTINCT_SKETCH_KEPT - 2) of it, if not all are kept.
 */
#ifndef DCPI_DISTINCT_SKETCH_H
#define DCPI_DISTINCT_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

#define DISTINCT_SKETCH_KEPT 64
/* Values that each new one is compared with. */
#define DISTINCT_SKETCH_RECENT 128

/**
 * struct distinct_sketch - zero-initialised is empty
 * @hash:     of the values kept, sorted; @times: their occurrences
 * @partial:  some values are not kept
 * @recent:   the last occurrences; @next: where the next one goes
 * @compared: comparisons; @equal: of these, with equal values
 */
struct distinct_sketch {
	uint32_t kept;
	uint32_t hash[DISTINCT_SKETCH_KEPT];
	uint16_t times[DISTINCT_SKETCH_KEPT];
	bool partial;
	uint32_t recent[DISTINCT_SKETCH_RECENT];
	uint32_t next;
	uint64_t compared;
	uint64_t equal;
};

/**
 * struct distinct_counts - contents of a sketch
 * @distinct: estimated number of different values; exact if it equals @kept
 * @kept:     values that were kept
 * @once:     of these: values that occurred once
 * @twice:    of these: values that occurred twice
 * @compared: pairs of occurrences that were compared; @equal: of these, with equal values
 */
struct distinct_counts {
	uint64_t distinct;
	uint32_t kept;
	uint32_t once;
	uint32_t twice;
	uint64_t compared;
	uint64_t equal;
};

/** distinct_sketch_add() - add a value by its hash, which is uniform; O(size of the sketch) */
void distinct_sketch_add(struct distinct_sketch *sketch, uint32_t hash);

/** distinct_sketch_counts() - evaluate a sketch */
struct distinct_counts distinct_sketch_counts(const struct distinct_sketch *sketch);

/** distinct_sketch_row() - write the counts as columns of a recording, PROFILE_DISTINCT_COLUMNS */
void distinct_sketch_row(const struct distinct_sketch *sketch, uint64_t *row);

#endif
