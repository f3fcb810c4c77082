/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Accesses to data by region of memory: how many, and how many lines and pages.
 *
 * As in footprint_store.h, only counts leave the store, and the key of its hashes ends with the
 * epoch. Positions of static data in its image are stored in units of REGION_PLACE_BYTES, for a
 * random selection of accesses (Vitter, Random sampling with a reservoir, 1985).
 */
#ifndef DCPI_REGION_STORE_H
#define DCPI_REGION_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/collect/distinct_sketch.h"
#include "db/profile_write.h"

/* Pairs of an image and a region; accesses beyond are dropped and counted. */
#define REGION_STORE_MAX 512
#define REGION_PLACE_BYTES 8
#define REGION_PLACES 1024

struct region_store;

/**
 * struct region_access - an access to data at a sample
 * @image:    image of the instruction; for PROFILE_REGION_IMAGE: of the data
 * @position: of the data in the image in bytes, for PROFILE_REGION_IMAGE; see
 *            PROFILE_PLACE_POSITION
 * @address, @space: as in struct footprint_access
 * @nearest:  as in struct source_access
 */
struct region_access {
	uint32_t image;
	enum profile_region region;
	int64_t position;
	uint64_t address;
	uint64_t space;
	bool nearest;
};

/** region_store_create() - Return: NULL if out of memory. Freed by region_store_destroy(). */
struct region_store *region_store_create(void);
void region_store_destroy(struct region_store *store);

/** region_store_add() - add an access; dropped and counted if there is no room */
void region_store_add(struct region_store *store, const struct region_access *access);

/** region_store_clear() - forget all accesses, and the key of the hashes */
void region_store_clear(struct region_store *store);

/** region_store_bytes() - memory in use */
size_t region_store_bytes(const struct region_store *store);

/** region_store_dropped() - accesses without room, since the creation */
uint64_t region_store_dropped(const struct region_store *store);

/**
 * region_store_images() - visit the images with accesses
 * @visit: gets the recording of an image (enum profile_data_table), valid during the call; anything
 *         but 0 ends the walk
 *
 * O(n log n) for the accesses that are stored. Return: what @visit returned last, 0, or -ENOMEM.
 */
int region_store_images(struct region_store *store,
			int (*visit)(void *context, uint32_t image,
				     struct profile_recording *recording),
			void *context);

#endif
