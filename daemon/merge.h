/* SPDX-License-Identifier: GPL-2.0-only */
/* From accumulated samples to the database: images, symbols, profiles. */
#ifndef DCPI_MERGE_H
#define DCPI_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/image_map.h"

struct accumulate;
struct error;
struct image_table;
struct kernel_images;
struct merge;
struct profile_writer;

/**
 * merge_create() - what a series of merges shares
 * @writer: stays the caller's, as the others
 * @kernel: may be NULL: then no symbols are kept
 */
int merge_create(struct merge **ret, struct profile_writer *writer,
		 const struct image_table *images, struct kernel_images *kernel, struct error *err);
void merge_destroy(struct merge *merge);

/**
 * struct merge_result - what a merge has written
 * @samples: all samples
 * @unknown: those of the unknown image, by reason
 */
struct merge_result {
	uint64_t samples;
	uint64_t unknown[IMAGE_UNKNOWN_NR];
};

/**
 * merge_bins() - write the oldest bins, within the writer's open transaction
 * @bins:    how many, at most
 * @result:  out
 *
 * In bins of the unknown image offsets are reasons (enum image_unknown); the
 * database has all of them at offset 0.
 *
 * The bins stay: the caller drops them once the transaction is committed. If
 * it is not, merge_forget() must be called.
 *
 * Return: bins written, or the writer's error.
 */
int merge_bins(struct merge *merge, const struct accumulate *accumulate, size_t bins,
	       struct merge_result *result, struct error *err);

/** merge_forget() - after a rollback and at the start of an epoch: image numbers are stale. */
void merge_forget(struct merge *merge);

#endif
