/* SPDX-License-Identifier: GPL-2.0-only */
/* Edges added up over the epochs that a filter selects, with names for both ends. */
#ifndef DCPI_EDGE_TALLY_H
#define DCPI_EDGE_TALLY_H

#include <stdbool.h>

#include "analysis/image/debug_file.h"
#include "db/profile_read.h"

struct edge_tally;
struct error;

/** enum edge_order - what rows are ordered by; then by count, then by place. */
enum edge_order {
	EDGE_BY_COUNT,
	EDGE_BY_PROCEDURE, /* where they begin */
	EDGE_BY_IMAGE,
	EDGE_BY_ADDRESS,
};

/**
 * struct edge_tally_config - what to add up
 * @filter:   which epochs
 * @image:    only rows of edges from images whose path, or its last part,
 *            matches this pattern (fnmatch(3)); NULL: of all. Totals are of all.
 * @order:    of the rows
 * @limit:    rows; 0: all. The fewer, the fewer images are opened
 * @demangle: names as the source has them, not as linkers do
 * @debug:    where symbols may be
 */
struct edge_tally_config {
	struct profile_filter filter;
	const char *image;
	enum edge_order order;
	size_t limit;
	bool demangle;
	struct debug_file_options debug;
};

/**
 * struct edge_end - where an edge begins or ends
 * @image:  path of the image
 * @place:  "procedure+0x1c", or just what stands for a procedure; see
 *          image_symbols_name()
 * @offset: in the image
 */
struct edge_end {
	const char *image;
	const char *place;
	uint64_t offset;
};

/** struct edge_row - an edge. */
struct edge_row {
	enum profile_edge_kind kind;
	struct edge_end from;
	struct edge_end to;
	uint64_t count;
};

/**
 * edge_tally_create() - add up, order, cut, name
 * @ret: out; freed by edge_tally_destroy()
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int edge_tally_create(struct edge_tally **ret, struct profile_reader *reader,
		      const struct edge_tally_config *config, struct error *err);

void edge_tally_destroy(struct edge_tally *tally);

/** edge_tally_row() - a row, 0 .. edge_tally_row_count() - 1. */
const struct edge_row *edge_tally_row(const struct edge_tally *tally, size_t index);
size_t edge_tally_row_count(const struct edge_tally *tally);

/** edge_tally_total() - edges of a kind over all rows, whatever the limit. */
uint64_t edge_tally_total(const struct edge_tally *tally, enum profile_edge_kind kind);

#endif
