/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows in ClickHouse's format Native: a block has the values of a column one after the other, then
 * those of the next one. Columns whose values rarely change are stored as runs of equal values.
 */
#ifndef DCPI_NATIVE_BLOCK_H
#define DCPI_NATIVE_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "ship/clickhouse_schema.h"
#include "ship/gzip.h"
#include "ship/row_buffer.h"

/** struct native_run - a value that @count rows have */
struct native_run {
	uint8_t value[GZIP_VALUE_BYTES_MAX];
	uint64_t count;
};

/** struct native_runs - a column; @bytes: of a value */
struct native_runs {
	struct native_run *list;
	size_t count;
	size_t capacity;
	size_t bytes;
};

/**
 * struct native_block - zero-initialised is empty
 * @runs:  columns, in the order of the table; each row has one value of each
 * @tail:  the columns after them
 * @rows:  number of rows
 * @rest:  scratch: all that zlib compresses
 */
struct native_block {
	struct native_runs runs[CLICKHOUSE_COLUMNS_MAX];
	struct row_buffer tail[CLICKHOUSE_COLUMNS_MAX];
	uint64_t rows;
	struct row_buffer rest;
	struct gzip_writer gzip;
};

void native_block_deinit(struct native_block *block);

/** native_block_clear() - remove all rows, but keep the memory */
void native_block_clear(struct native_block *block);

/** native_block_repeat() - add a value of @bytes bytes to a column @count times. Return: 0, -ENOMEM
 */
int native_block_repeat(struct native_block *block, unsigned int column, const void *value,
			size_t bytes, uint64_t count);

/**
 * native_block_compress() - make the body of a request
 * @run_columns: the first columns of the table, those with runs
 *
 * Return: the body, compressed, valid until the next call; NULL: out of memory.
 */
const struct row_buffer *native_block_compress(struct native_block *block,
					       const struct clickhouse_definition *table,
					       unsigned int run_columns);

#endif
