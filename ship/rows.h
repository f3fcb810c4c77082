/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of a batch for ClickHouse, collected by table until they are a request.
 *
 * A row is made by rows_begin(), the values of all columns in the order of the table's definition,
 * and rows_end().
 */
#ifndef DCPI_ROWS_H
#define DCPI_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile_read.h"
#include "lib/u64_map.h"
#include "ship/clickhouse_schema.h"
#include "ship/native_block.h"
#include "ship/protocol.h"
#include "ship/row_buffer.h"

struct image_id {
	uint8_t uuid[16];
};

/* struct slice_list - slices whose rows a check counts */
struct slice_list {
	struct profile_slice *list;
	size_t count;
	size_t capacity;
};

/*
 * struct clickhouse - a batch that is being made
 * @rows:     not in a request yet; @samples_block: those of the table of samples
 * @sent, @sums: rows of the batch, and the sums of their measures
 * @version:  of the rows that are being made
 * @target:   buffer of the rows that are being made
 * @images:   from numbers in the database to positions in @ids plus 1
 * @named:    images whose procedures are in the batch
 * @slices:   in the batch, @changed: and those that they replace
 * @lost, @samples: of the slice that is being read
 * @processes: from process ids of the epoch @of to digests of rows that are in a batch
 * @batch:    the number of the last batch. A batch that was rolled back has the number of the next
 */
struct clickhouse {
	struct row_buffer rows[CLICKHOUSE_TABLES];
	struct native_block samples_block;
	uint64_t sent[CLICKHOUSE_TABLES];
	uint64_t sums[CLICKHOUSE_TABLES];
	struct row_buffer scratch;
	struct row_buffer *target;
	uint64_t version;
	struct u64_map images;
	struct image_id *ids;
	size_t id_count, id_capacity;
	struct image_id *named;
	size_t named_count, named_capacity;
	struct slice_list slices;
	struct slice_list changed;
	const struct profile_slice *slice;
	uint64_t lost;
	uint64_t samples;
	struct u64_map processes;
	uint8_t of[SHIP_UUID_BYTES];
	int64_t batch;
};

/** rows_clear() - begin a batch */
void rows_clear(struct batch_builder *batch);

/** rows_deinit() - free all memory */
void rows_deinit(struct clickhouse *ch);

/** rows_no_memory() - set the error of the batch. Return: -ENOMEM. */
int rows_no_memory(struct batch_builder *batch);

/** rows_begin() - begin rows of a table */
void rows_begin(struct batch_builder *batch, enum clickhouse_table table);

/**
 * rows_end() - end a row
 * @measure: value of the table's column for checks; 0 if it has none
 *
 * Return: 0, or the error of the state file.
 */
int rows_end(struct batch_builder *batch, enum clickhouse_table table, uint64_t measure);

/* The next value of a row. */
void rows_put_u8(struct clickhouse *ch, uint64_t value);
void rows_put_u32(struct clickhouse *ch, uint64_t value);
void rows_put_u64(struct clickhouse *ch, uint64_t value);
void rows_put_i64(struct clickhouse *ch, int64_t value);
void rows_put_text(struct clickhouse *ch, const char *text);

/** rows_put_epoch() - put the columns that rows of an epoch begin with */
void rows_put_epoch(struct batch_builder *batch);

/** rows_put_slice() - put the columns that rows of a slice begin with */
void rows_put_slice(struct batch_builder *batch, const struct profile_slice *slice);

/**
 * rows_samples() - add the samples of a profile
 * @pid, @label: the process, or the unit
 */
int rows_samples(struct batch_builder *batch, const struct profile *profile,
		 const uint8_t image[16], int64_t pid, uint32_t label);

/** rows_samples_flush() - store the samples as a request */
int rows_samples_flush(struct batch_builder *batch);

/** rows_day() - return the day of a time, in days since 1970, within the range of a Date */
uint16_t rows_day(int64_t time_ns);

/** rows_flush() - store the rows of a table as a request */
int rows_flush(struct batch_builder *batch, enum clickhouse_table table);

/**
 * rows_image() - find the id of an image; unless the destination has its description, add that
 * @uuid: out; valid until the next call
 */
int rows_image(struct batch_builder *batch, int64_t number, const uint8_t **uuid);

/** rows_procedures() - add the procedures that the database has of an image */
int rows_procedures(struct batch_builder *batch, int64_t image, const struct image_id *id);

/** rows_epoch_begin() - add the description of the epoch, unless the destination has it */
int rows_epoch_begin(struct batch_builder *batch);

/** rows_epoch_rest() - add edges, exact counts, call stacks and procedures of JIT code */
int rows_epoch_rest(struct batch_builder *batch);

/** rows_slice() - as @slice of struct protocol */
int rows_slice(struct batch_builder *batch, const struct profile_epoch *part,
	       const struct profile_slice *slice);

/** rows_slice_lost() - as @lost of struct protocol */
int rows_slice_lost(struct batch_builder *batch, const struct profile_slice *slice,
		    const char *name);

/** rows_slice_replaced() - as @replace of struct protocol */
int rows_slice_replaced(struct batch_builder *batch, const struct profile_slice *slice);

#endif
