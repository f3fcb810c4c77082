/* SPDX-License-Identifier: GPL-2.0-only */
/* From what is accumulated to the database: images, symbols, profiles, edges. */
#ifndef DCPI_MERGE_H
#define DCPI_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/image/image_map.h"

struct accumulate;
struct edge_accumulate;
struct error;
struct image_table;
struct jit_images;
struct kernel_images;
struct label_table;
struct merge;
struct profile_writer;

/**
 * merge_create() - what a series of merges shares
 * @writer: stays the caller's, as the others
 * @kernel: may be NULL: then no symbols are kept
 * @labels: may be NULL, if the bins have none
 * @jit:    may be NULL
 */
int merge_create(struct merge **ret, struct profile_writer *writer,
		 const struct image_table *images, struct kernel_images *kernel,
		 const struct label_table *labels, struct jit_images *jit, struct error *err);
void merge_destroy(struct merge *merge);

/**
 * struct merge_result - what a merge has written; zero-initialised before the first
 * @bins:    of samples, the oldest ones
 * @samples: all samples
 * @unknown: those of the unknown image, by reason
 * @edge_bins, @edges: bins of edges, and edges, likewise
 */
struct merge_result {
	size_t bins;
	uint64_t samples;
	uint64_t unknown[IMAGE_UNKNOWN_NR];
	size_t edge_bins;
	uint64_t edges;
};

/**
 * merge_bins() - write the oldest bins, within the writer's open transaction
 * @bins:    how many, at most
 * @result:  out: added to
 *
 * In bins of the unknown image offsets are reasons (enum image_unknown); the
 * database has all of them at offset 0.
 *
 * The bins stay: the caller drops them once the transaction is committed. If
 * it is not, merge_forget() must be called.
 *
 * Return: 0, or the writer's error.
 */
int merge_bins(struct merge *merge, struct accumulate *accumulate, size_t bins,
	       struct merge_result *result, struct error *err);

/** merge_edges() - the same for bins of edges. */
int merge_edges(struct merge *merge, const struct edge_accumulate *accumulate, size_t bins,
		struct merge_result *result, struct error *err);

/** merge_done() - the transaction was committed. */
void merge_done(struct merge *merge);

/** merge_forget() - after a rollback and at the start of an epoch: image numbers are stale. */
void merge_forget(struct merge *merge);

/** merge_epoch() - an epoch begins: all that the database is told once is told again. */
void merge_epoch(struct merge *merge);

#endif
