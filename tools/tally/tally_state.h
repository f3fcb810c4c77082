/* SPDX-License-Identifier: GPL-2.0-only */
/* A tally while it is made: what its parts, tally_*.c, work on. */
#ifndef DCPI_TALLY_STATE_H
#define DCPI_TALLY_STATE_H

#include "tools/tally/tally_config.h"
#include "tools/tally/tally_row.h"

struct image_symbols;
struct procedure_names;

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
	struct tally_count *excluded; /* samples of rows that are excluded, of @totals */
	uint64_t samples;
	uint64_t unknown;
	uint64_t excluded_samples;
	void **owned; /* what rows point to */
	size_t owned_count;
	size_t owned_capacity;
	struct procedure_names **names; /* of rows, too */
	size_t name_count;
	size_t name_capacity;
	/* while parts of an image are counted: */
	struct image_symbols *symbols;
	struct tally_count *counts; /* for each of the procedures */
	const struct tally_image *image;
	struct tally_places *places;
};

/** tally_state_own() - take over malloc'd memory for as long as the rows live. Return: it, or NULL.
 */
void *tally_state_own(struct tally *tally, void *memory);

/**
 * tally_state_names() - the names of a procedure of the open symbols
 *
 * Return: the tally's, for as long as the rows live; NULL if out of memory.
 */
const struct procedure_names *tally_state_names(struct tally *tally, size_t procedure);

/** tally_state_factor() - what a sample of a profile stands for. */
double tally_state_factor(const struct tally *tally, const struct profile *profile);

/** tally_state_wanted() - which of a row's counts, or -1 if the profile isn't asked for. */
long tally_state_wanted(const struct tally *tally, const struct profile *profile);

/** tally_state_add_row() - unless it has no samples; copied, its counts stay. Return: 0 or -ENOMEM.
 */
int tally_state_add_row(struct tally *tally, const struct tally_row *row);

#endif
