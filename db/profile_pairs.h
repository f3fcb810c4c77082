/* SPDX-License-Identifier: GPL-2.0-only */
/* Sorted samples in memory, and their sum. */
#ifndef DCPI_PROFILE_PAIRS_H
#define DCPI_PROFILE_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile.h"

/** struct profile_pairs - a growable array of samples, and their sum; zero-initialised is empty. */
struct profile_pairs {
	struct profile_sample *samples;
	size_t count;
	size_t capacity;
	uint64_t total;
};

void profile_pairs_deinit(struct profile_pairs *pairs);

/**
 * profile_pairs_merge() - add two sorted runs of samples
 * @sum: out: replaced; counts of equal offsets are added
 * @a:   samples with their total
 *
 * O(@b_count), and little more than a copy for @a.
 *
 * Return: 0; -EOVERFLOW; -ENOMEM.
 */
int profile_pairs_merge(struct profile_pairs *sum, const struct profile_pairs *a,
			const struct profile_sample *b, size_t b_count);

/**
 * profile_pairs_add() - add a sorted run of samples to a sum
 * @sum:   in and out
 * @spare: its memory is exchanged with the memory of @sum, and its contents are lost
 *
 * Return: 0, or the errors of profile_pairs_merge(), after which @sum is unchanged.
 */
int profile_pairs_add(struct profile_pairs *sum, struct profile_pairs *spare,
		      const struct profile_sample *samples, size_t count);

#endif
