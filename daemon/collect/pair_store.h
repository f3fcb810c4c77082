/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Register pairs on their way to the database: a random selection for each image in an epoch.
 *
 * Each image keeps at most PAIR_STORE_IMAGE_MAX pairs, all images together PAIR_STORE_MAX. In a
 * full image, a new pair replaces a random one. The probability makes all pairs equally likely to
 * be kept. So pairs are distributed over the code as the program's time is.
 *
 * Source: Vitter, Random Sampling with a Reservoir, 1985, algorithm R.
 */
#ifndef DCPI_PAIR_STORE_H
#define DCPI_PAIR_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/source/register_pairs.h"

#define PAIR_STORE_MAX 8192
#define PAIR_STORE_IMAGE_MAX 2048

struct pair_store;

/**
 * struct stored_pair - a pair in an image
 * @from, @to: offsets in the file
 * @samples, @delta, @words: as in struct source_pair
 */
struct stored_pair {
	uint64_t from;
	uint64_t to;
	uint64_t samples;
	int64_t delta[REGISTER_PAIR_REGISTERS];
	uint32_t word_count;
	struct word_change words[REGISTER_PAIR_CHANGES];
};

/** pair_store_create() - Return: NULL if out of memory. Freed by pair_store_destroy(). */
struct pair_store *pair_store_create(void);
void pair_store_destroy(struct pair_store *store);

/** pair_store_add() - add a pair of an image; a pair that finds no memory is not selected. */
void pair_store_add(struct pair_store *store, uint32_t image, const struct stored_pair *pair);

/**
 * pair_store_join() - move the pairs of an image to another one, which has the same code
 *
 * All pairs of both are then kept with the same probability.
 *
 * Return: 0; -ENOMEM: nothing is changed.
 */
int pair_store_join(struct pair_store *store, uint32_t image, uint32_t into);

/** pair_store_clear() - forget all pairs */
void pair_store_clear(struct pair_store *store);

/** pair_store_bytes() - memory in use */
size_t pair_store_bytes(const struct pair_store *store);

/**
 * pair_store_images() - visit the images with pairs, in any order
 * @visit: gets the number of an image, its selected pairs, and the number of pairs that they were
 *         selected from; anything but 0 ends the walk
 *
 * Return: what @visit returned last, or 0.
 */
int pair_store_images(const struct pair_store *store,
		      int (*visit)(void *context, uint32_t image, const struct stored_pair *pairs,
				   size_t count, uint64_t seen),
		      void *context);

#endif
