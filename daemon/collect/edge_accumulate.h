/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Edges waiting for a merge into the database: counts by (from, to), in one bin per (image, image,
 * kind). This is the counterpart of accumulate.h for edges: bins are sorted by the age of their
 * oldest edge, merged and dropped oldest first, and their memory is bounded.
 */
#ifndef DCPI_EDGE_ACCUMULATE_H
#define DCPI_EDGE_ACCUMULATE_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile.h"

struct edge_accumulate;
struct edge_bin;
struct error;

/**
 * struct edge_key - identifies a bin of edges
 * @image:    number in the image table of the image in which they begin
 * @to_image: number of the image in which they end
 * @kind:     how they were found
 */
struct edge_key {
	uint32_t image;
	uint32_t to_image;
	enum profile_edge_kind kind;
};

/** edge_accumulate_create() - create an empty accumulator; @memory_limit in bytes. */
int edge_accumulate_create(struct edge_accumulate **ret, size_t memory_limit, struct error *err);
void edge_accumulate_destroy(struct edge_accumulate *accumulate);

/**
 * edge_accumulate_add() - add @count times the edge from @from to @to
 *
 * O(1) expected.
 *
 * Return: 0; -ENOMEM over the limit or out of memory: the edges are counted in
 * edge_accumulate_refused().
 */
int edge_accumulate_add(struct edge_accumulate *accumulate, const struct edge_key *key,
			uint64_t from, uint64_t to, uint64_t count);

/** edge_accumulate_held() - return the number of edges (the sum of their counts) in all bins. */
uint64_t edge_accumulate_held(const struct edge_accumulate *accumulate);

/** edge_accumulate_refused() - return the number of edges refused so far. */
uint64_t edge_accumulate_refused(const struct edge_accumulate *accumulate);

/** edge_accumulate_bytes() - return the memory in use. */
size_t edge_accumulate_bytes(const struct edge_accumulate *accumulate);

/** edge_accumulate_bins() - return the number of bins. */
size_t edge_accumulate_bins(const struct edge_accumulate *accumulate);

/** edge_accumulate_first() - return the oldest bin, NULL if there is none. */
const struct edge_bin *edge_accumulate_first(const struct edge_accumulate *accumulate);

/** edge_accumulate_drop() - drop the @bins oldest bins, which have been stored. */
void edge_accumulate_drop(struct edge_accumulate *accumulate, size_t bins);

/** edge_accumulate_next() - return the bin after this one, NULL if it is the youngest. */
const struct edge_bin *edge_accumulate_next(const struct edge_bin *bin);

/**
 * edge_accumulate_bin_key() - return a bin's key; edge_accumulate_bin_held(): its number of edges.
 */
struct edge_key edge_accumulate_bin_key(const struct edge_bin *bin);
uint64_t edge_accumulate_bin_held(const struct edge_bin *bin);

/** struct edge_run - a growing array; zero-initialised is empty. */
struct edge_run {
	struct profile_edge *edges;
	size_t count;
	size_t capacity;
};

/**
 * edge_accumulate_bin_edges() - return a bin's edges, ascending by from, then to
 * @ret: contents are replaced; freed by the caller (free(ret->edges))
 *
 * Return: 0 or -ENOMEM.
 */
int edge_accumulate_bin_edges(const struct edge_bin *bin, struct edge_run *ret);

#endif
