// SPDX-License-Identifier: GPL-2.0-only
#include "ship/native_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

#define NAME_BYTES_MAX 64

void native_block_deinit(struct native_block *block)
{
	for (size_t i = 0; i < CLICKHOUSE_COLUMNS_MAX; i++) {
		free(block->runs[i].list);
		row_buffer_deinit(&block->tail[i]);
	}
	row_buffer_deinit(&block->rest);
	row_buffer_deinit(&block->gzip.to);
}

void native_block_clear(struct native_block *block)
{
	for (size_t i = 0; i < CLICKHOUSE_COLUMNS_MAX; i++) {
		block->runs[i].count = 0;
		row_buffer_clear(&block->tail[i]);
	}
	block->rows = 0;
}

int native_block_repeat(struct native_block *block, unsigned int column, const void *value,
			size_t bytes, uint64_t count)
{
	struct native_runs *runs = &block->runs[column];

	runs->bytes = bytes;
	if (runs->count > 0 && memcmp(runs->list[runs->count - 1].value, value, bytes) == 0) {
		runs->list[runs->count - 1].count += count;
		return 0;
	}
	if (array_reserve(&runs->list, &runs->capacity, runs->count + 1, sizeof(*runs->list)) < 0)
		return -ENOMEM;
	memcpy(runs->list[runs->count].value, value, bytes);
	runs->list[runs->count++].count = count;
	return 0;
}

/* Add the name and the type of a column, from "name Type". */
static void header_write(const char *column, struct row_buffer *to)
{
	size_t length = strcspn(column, " ");
	char name[NAME_BYTES_MAX];

	memcpy(name, column, length);
	name[length] = '\0';
	row_buffer_text(to, name);
	row_buffer_text(to, column + length + 1);
}

static void flush_literals(struct native_block *block)
{
	gzip_literals(&block->gzip, block->rest.data, block->rest.bytes);
	row_buffer_clear(&block->rest);
}

const struct row_buffer *native_block_compress(struct native_block *block,
					       const struct clickhouse_definition *table,
					       unsigned int run_columns)
{
	struct row_buffer *rest = &block->rest;
	unsigned int columns = 0;

	while (columns < CLICKHOUSE_COLUMNS_MAX && table->columns[columns] != NULL)
		columns++;
	gzip_begin(&block->gzip);
	row_buffer_clear(rest);
	row_buffer_length(rest, columns);
	row_buffer_length(rest, block->rows);
	for (unsigned int i = 0; i < run_columns; i++) {
		const struct native_runs *runs = &block->runs[i];

		header_write(table->columns[i], rest);
		flush_literals(block);
		for (size_t k = 0; k < runs->count; k++)
			gzip_repeat(&block->gzip, runs->list[k].value, runs->bytes,
				    runs->list[k].count);
	}
	for (unsigned int i = run_columns; i < columns; i++) {
		header_write(table->columns[i], rest);
		row_buffer_bytes(rest, block->tail[i].data, block->tail[i].bytes);
	}
	if (rest->failed || gzip_end(&block->gzip, rest->data, rest->bytes) < 0)
		return NULL;
	return &block->gzip.to;
}
