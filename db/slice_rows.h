/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of the table slice_profile that a filter selects, without their samples, sorted by the
 * profile that they are parts of. Private to db/.
 */
#ifndef DCPI_SLICE_ROWS_H
#define DCPI_SLICE_ROWS_H

#include <stddef.h>
#include <stdint.h>

struct epoch_set;
struct error;
struct profile_filter;
struct profile_reader;

/** struct slice_row - a row; @key: image, epoch, event, pid; @start_ns: of the slice */
struct slice_row {
	int64_t key[4];
	int64_t slice;
	int64_t start_ns;
	int64_t samples;
	int64_t offsets;
};

/** struct slice_rows - zero-initialised is empty */
struct slice_rows {
	struct slice_row *list;
	size_t count;
	size_t capacity;
};

/** slice_rows_read() - read the rows of all epochs whose samples are read from slices */
int slice_rows_read(struct slice_rows *rows, struct profile_reader *reader,
		    const struct profile_filter *filter, const struct epoch_set *epochs,
		    struct error *err);

void slice_rows_deinit(struct slice_rows *rows);

/** slice_rows_find() - return the rows of a key of four numbers; NULL: none; @count: out */
const struct slice_row *slice_rows_find(const struct slice_rows *rows, const int64_t *key,
					size_t *count);

#endif
