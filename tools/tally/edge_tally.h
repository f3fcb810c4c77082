/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums edges over the epochs that a filter selects, and names both ends of each edge. */
#ifndef DCPI_EDGE_TALLY_H
#define DCPI_EDGE_TALLY_H

#include <stdbool.h>

#include "analysis/image/debug_file.h"
#include "db/profile_read.h"

struct edge_tally;
struct error;

/** enum edge_order - primary key of the order of rows, followed by count and place */
enum edge_order {
	EDGE_BY_COUNT,
	EDGE_BY_PROCEDURE, /* of the start */
	EDGE_BY_IMAGE,
	EDGE_BY_ADDRESS,
};

/**
 * struct edge_tally_config - configuration of a tally
 * @filter:   selects the epochs
 * @image:    only rows of edges from images whose path, or its last part, matches this pattern
 *            (fnmatch(3)); NULL: all. Totals include all images.
 * @order:    of the rows
 * @limit:    number of rows; 0: all. With fewer rows, fewer images are opened
 * @demangle: names as in the source, not as linkers use
 * @debug:    where symbols may be found
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
 * struct edge_end - start or end of an edge
 * @image:  path of the image
 * @place:  "procedure+0x1c", or the replacement for a procedure; see image_symbols_name()
 * @mark:   text after the place in a table: profiler_class_mark()
 * @offset: in the image
 */
struct edge_end {
	const char *image;
	const char *place;
	const char *mark;
	uint64_t offset;
};

/** struct edge_row - an edge, and its count over the selected epochs */
struct edge_row {
	enum profile_edge_kind kind;
	struct edge_end from;
	struct edge_end to;
	uint64_t count;
};

/**
 * edge_tally_create() - sum, sort, limit and name the edges
 * @ret: out; freed by edge_tally_destroy()
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int edge_tally_create(struct edge_tally **ret, struct profile_reader *reader,
		      const struct edge_tally_config *config, struct error *err);

void edge_tally_destroy(struct edge_tally *tally);

/** edge_tally_row() - return a row, 0 .. edge_tally_row_count() - 1 */
const struct edge_row *edge_tally_row(const struct edge_tally *tally, size_t index);
size_t edge_tally_row_count(const struct edge_tally *tally);

/**
 * edge_tally_total() - return the number of edges of a kind over all rows, regardless of the limit
 */
uint64_t edge_tally_total(const struct edge_tally *tally, enum profile_edge_kind kind);

#endif
