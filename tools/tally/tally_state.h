/* SPDX-License-Identifier: GPL-2.0-only */
/* State of a tally under construction, shared by its parts, tally_*.c. */
#ifndef DCPI_TALLY_STATE_H
#define DCPI_TALLY_STATE_H

#include "tools/tally/tally_config.h"
#include "tools/tally/tally_row.h"

struct image_symbols;
struct procedure_names;

/* @of_profiler: only the samples of the profiler's processes, which other entries exclude */
struct tally_image {
	int64_t id;
	bool of_profiler;
	struct profile_image image; /* this structure owns the path */
	char *label;
	char identity[2 * PROFILE_IDENTITY_BYTES_MAX + 1];
	uint64_t samples; /* of all events and processes */
	struct tally_count *counts;
};

struct tally_places;

struct tally {
	struct tally_config config;
	size_t columns;		      /* counts per row */
	struct profile_filter filter; /* the configuration's, without event and process */
	struct tally_image *images;
	size_t image_count;
	size_t image_capacity;
	struct tally_row *rows;
	size_t row_count;
	size_t row_capacity;
	struct tally_count *totals;
	/* by class and column: samples of excluded rows, a part of @totals */
	struct tally_count *excluded[PROFILER_CLASSES];
	uint64_t samples;
	uint64_t unknown;
	uint64_t excluded_samples[PROFILER_CLASSES];
	enum profiler_probes probes;
	void **owned; /* memory to which rows point */
	size_t owned_count;
	size_t owned_capacity;
	struct procedure_names **names; /* to which rows point, too */
	size_t name_count;
	size_t name_capacity;
	/* valid while parts of an image are counted: */
	struct image_symbols *symbols;
	struct tally_count **counts; /* of each procedure; NULL: no samples */
	const struct tally_image *image;
	struct tally_places *places;
};

/**
 * tally_state_own() - take ownership of malloc'd memory until the rows are freed
 *
 * Return: @memory; NULL if out of memory.
 */
void *tally_state_own(struct tally *tally, void *memory);

/**
 * tally_state_names() - get the names of a procedure from the open symbols
 *
 * Return: owned by the tally, valid as long as the rows; NULL if out of memory.
 */
const struct procedure_names *tally_state_names(struct tally *tally, size_t procedure);

/** tally_state_factor() - return the factor by which samples of a profile count */
double tally_state_factor(const struct tally *tally, const struct profile *profile);

/**
 * tally_state_wanted() - return the index in a row's counts, or -1 if the profile is not selected
 */
long tally_state_wanted(const struct tally *tally, const struct profile *profile);

/**
 * tally_state_add_row() - add a copy of a row unless it has no samples; @row->counts is not copied
 *
 * Return: 0 or -ENOMEM.
 */
int tally_state_add_row(struct tally *tally, const struct tally_row *row);

#endif
