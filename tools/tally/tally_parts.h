/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of tally.h share. */
#ifndef DCPI_TALLY_PARTS_H
#define DCPI_TALLY_PARTS_H

#include "tools/tally/tally.h"

struct image_symbols;

struct tally_image {
	int64_t id;
	struct profile_image image; /* the path is ours */
	char *label;
	char identity[2 * PROFILE_IDENTITY_BYTES_MAX + 1];
	uint64_t samples; /* of all events and processes */
	struct tally_count *counts;
};

struct tally_places;

struct tally {
	struct tally_config config;
	size_t columns;		      /* counts of a row */
	struct profile_filter filter; /* of the configuration, but for any event and process */
	struct tally_image *images;
	size_t image_count;
	size_t image_capacity;
	struct tally_row *rows;
	size_t row_count;
	size_t row_capacity;
	struct tally_count *totals;
	uint64_t samples;
	uint64_t unknown;
	void **owned; /* what rows point to */
	size_t owned_count;
	size_t owned_capacity;
	/* while parts of an image are counted: */
	struct image_symbols *symbols;
	struct tally_count *counts; /* for each of the procedures */
	const struct tally_image *image;
	struct tally_places *places;
};

/** tally_own() - take over malloc'd memory for as long as the rows live. Return: it, or NULL. */
void *tally_own(struct tally *tally, void *memory);

/** tally_factor() - what a sample of a profile stands for. */
double tally_factor(const struct tally *tally, const struct profile *profile);

/** tally_wanted() - which of a row's counts, or -1 if the profile isn't asked for. */
long tally_wanted(const struct tally *tally, const struct profile *profile);

/**
 * tally_places_count() - add the rows of @tally->image that are instructions, lines or files
 * @filter: selects its profiles
 *
 * Its symbols are open.
 */
int tally_places_count(struct tally *tally, struct profile_reader *reader,
		       const struct profile_filter *filter, struct error *err);

#endif
