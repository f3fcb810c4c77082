/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes accumulated data to the database: images, symbols, profiles, edges. */
#ifndef DCPI_MERGE_H
#define DCPI_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/image/image_map.h"
#include "db/profile_write.h"

struct accumulate;
struct code_capture;
struct edge_accumulate;
struct error;
struct footprint_store;
struct image_names;
struct region_store;
struct image_table;
struct jit_images;
struct kernel_images;
struct label_table;
struct merge;
struct pair_store;
struct profile_writer;
struct stack_store;
struct thread_store;

/**
 * merge_create() - create the state shared by a series of merges
 * @writer: remains the caller's, like the others
 * @kernel: may be NULL: then no symbols are stored
 * @labels: may be NULL, if the bins have none
 * @jit:    may be NULL
 */
int merge_create(struct merge **ret, struct profile_writer *writer,
		 const struct image_table *images, struct kernel_images *kernel,
		 const struct label_table *labels, struct jit_images *jit, struct error *err);
void merge_destroy(struct merge *merge);

/** merge_capture() - also store code of the kernel's images; @capture remains the caller's */
void merge_capture(struct merge *merge, struct code_capture *capture);

/** merge_names() - also want the names of procedures; @names remains the caller's */
void merge_names(struct merge *merge, struct image_names *names);

/**
 * struct merge_result - data that a merge has written; zero-initialise it before the first
 * @bins:      number of bins of samples, oldest first
 * @samples:   total number of samples
 * @unknown:   number of samples of the unknown image, by reason
 * @edge_bins: number of bins of edges
 * @edges:     number of edges
 */
struct merge_result {
	size_t bins;
	uint64_t samples;
	uint64_t unknown[IMAGE_UNKNOWN_NR];
	size_t edge_bins;
	uint64_t edges;
};

/**
 * struct merge_slice - a slice of the database, and the parts of bins that belong to it
 * @last: number of the last slice of accumulate.h that belongs to it; the first one is the number
 *        after the previous slice's @last
 * @id:   its number in the database
 */
struct merge_slice {
	uint32_t last;
	int64_t id;
};

/** struct merge_slices - slices by ascending @last; all parts are in one; none: @count is 0 */
struct merge_slices {
	const struct merge_slice *list;
	size_t count;
};

/**
 * merge_slices_find() - return the index of the slice that a slice of accumulate.h belongs to;
 * the last one if it is in none
 */
size_t merge_slices_find(const struct merge_slices *slices, uint32_t number);

/**
 * merge_bins() - write the oldest bins, within the writer's open transaction
 * @bins:   maximum number
 * @slices: the samples are also written to these slices
 * @result: out: added to
 *
 * In bins of the unknown image, offsets are reasons (enum image_unknown); the database has all
 * their samples at offset 0.
 *
 * The bins are not removed: the caller drops them once the transaction is committed. If it is not
 * committed, merge_forget() must be called.
 *
 * Return: 0, or the writer's error.
 */
int merge_bins(struct merge *merge, struct accumulate *accumulate, size_t bins,
	       const struct merge_slices *slices, struct merge_result *result, struct error *err);

/** merge_edges() - as merge_bins(), for bins of edges. */
int merge_edges(struct merge *merge, const struct edge_accumulate *accumulate, size_t bins,
		struct merge_result *result, struct error *err);

/** merge_pairs() - write the register pairs of all images; they replace the pairs in the database
 */
int merge_pairs(struct merge *merge, struct pair_store *pairs, struct error *err);

/** merge_footprints() - as merge_pairs(), for footprints */
int merge_footprints(struct merge *merge, const struct footprint_store *footprints,
		     struct error *err);

/** merge_regions() - as merge_pairs(), for regions of data */
int merge_regions(struct merge *merge, struct region_store *regions, struct error *err);

/** merge_threads() - write the threads; they replace those in the database. @every: as for stacks
 */
int merge_threads(struct merge *merge, const struct thread_store *threads, uint64_t every,
		  struct error *err);

/**
 * merge_stacks() - write all call stacks or the off-CPU time; they replace those in the database
 * @mode, @every: see stack_recording_next()
 */
int merge_stacks(struct merge *merge, const struct stack_store *stacks,
		 enum profile_recording_mode mode, uint64_t every, struct error *err);

/** merge_done() - the transaction was committed. */
void merge_done(struct merge *merge);

/** merge_forget() - invalidate image numbers, after a rollback and at the start of an epoch. */
void merge_forget(struct merge *merge);

/**
 * merge_epoch() - begin an epoch: data that the database stores once per epoch are written again.
 */
void merge_epoch(struct merge *merge);

#endif
