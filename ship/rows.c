// SPDX-License-Identifier: GPL-2.0-only
#include "ship/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/profile_read.h"
#include "lib/array.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "ship/ship_config.h"
#include "ship/ship_id.h"

#define DAY_NS ((int64_t)(86400 * NS_PER_SECOND))
#define DAY_MAX 65535
/* The first byte of the key of an image's description; ship/rows_epoch.c has others. */
#define DESCRIPTION_IMAGE 'i'

int rows_no_memory(struct batch_builder *batch)
{
	return error_set(batch->err, ENOMEM, ERROR_NO_MEMORY);
}

void rows_deinit(struct clickhouse *ch)
{
	for (size_t i = 0; i < CLICKHOUSE_TABLES; i++)
		row_buffer_deinit(&ch->rows[i]);
	row_buffer_deinit(&ch->scratch);
	native_block_deinit(&ch->samples_block);
	u64_map_deinit(&ch->images);
	u64_map_deinit(&ch->processes);
	free(ch->ids);
	free(ch->named);
	free(ch->slices.list);
	free(ch->changed.list);
}

void rows_clear(struct batch_builder *batch)
{
	struct clickhouse *ch = batch->data;

	for (size_t i = 0; i < CLICKHOUSE_TABLES; i++)
		row_buffer_clear(&ch->rows[i]);
	native_block_clear(&ch->samples_block);
	memset(ch->sent, 0, sizeof(ch->sent));
	memset(ch->sums, 0, sizeof(ch->sums));
	u64_map_deinit(&ch->images);
	ch->id_count = ch->named_count = ch->slices.count = ch->changed.count = 0;
	ch->version = (uint64_t)batch->number;
	if (ch->batch == batch->number || memcmp(ch->of, batch->known->uuid, sizeof(ch->of)) != 0)
		u64_map_deinit(&ch->processes);
	ch->batch = batch->number;
	memcpy(ch->of, batch->known->uuid, sizeof(ch->of));
}

void rows_put_u8(struct clickhouse *ch, uint64_t value)
{
	row_buffer_number(ch->target, value, 1);
}

void rows_put_u32(struct clickhouse *ch, uint64_t value)
{
	row_buffer_number(ch->target, value, 4);
}

void rows_put_u64(struct clickhouse *ch, uint64_t value)
{
	row_buffer_number(ch->target, value, 8);
}

void rows_put_i64(struct clickhouse *ch, int64_t value)
{
	row_buffer_number(ch->target, (uint64_t)value, 8);
}

void rows_put_text(struct clickhouse *ch, const char *text)
{
	row_buffer_text(ch->target, text);
}

uint16_t rows_day(int64_t time_ns)
{
	int64_t day = time_ns / DAY_NS;

	return (uint16_t)(day < 0 ? 0 : day > DAY_MAX ? DAY_MAX : day);
}

static void put_day(struct clickhouse *ch, int64_t time_ns)
{
	row_buffer_number(ch->target, rows_day(time_ns), 2);
}

void rows_begin(struct batch_builder *batch, enum clickhouse_table table)
{
	struct clickhouse *ch = batch->data;

	ch->target = &ch->rows[table];
}

/* The columns that rows of an epoch begin with. */
void rows_put_epoch(struct batch_builder *batch)
{
	put_day(batch->data, batch->known->start_ns);
	row_buffer_uuid(((struct clickhouse *)batch->data)->target, batch->known->host);
	row_buffer_uuid(((struct clickhouse *)batch->data)->target, batch->known->uuid);
}

/* The columns that rows of a slice begin with. */
void rows_put_slice(struct batch_builder *batch, const struct profile_slice *slice)
{
	struct clickhouse *ch = batch->data;

	put_day(ch, slice->start_ns);
	row_buffer_uuid(ch->target, batch->known->host);
	row_buffer_uuid(ch->target, batch->known->uuid);
	rows_put_i64(ch, slice->start_ns);
	rows_put_i64(ch, slice->end_ns);
}

/* Store the rows of a table as a request. */
int rows_flush(struct batch_builder *batch, enum clickhouse_table table)
{
	struct clickhouse *ch = batch->data;
	struct row_buffer *rows = &ch->rows[table];
	const struct ship_request request = {
		.target = clickhouse_definitions[table].name,
		.expect = "",
		.entries = rows->rows,
		.body = rows->data,
		.bytes = rows->bytes,
	};
	int r;

	if (rows->failed)
		return rows_no_memory(batch);
	if (rows->rows == 0)
		return 0;
	r = protocol_request_add(batch, &request);
	row_buffer_clear(rows);
	return r;
}

/* A row is complete. @measure: of the table's column for checks, 0 if it has none */
int rows_end(struct batch_builder *batch, enum clickhouse_table table, uint64_t measure)
{
	struct clickhouse *ch = batch->data;

	ch->target->rows++;
	if (ch->target == &ch->scratch)
		return 0;
	ch->sent[table]++;
	ch->sums[table] += measure;
	return ch->target->bytes >= batch->config->request_kb * 1024 ? rows_flush(batch, table) : 0;
}

static void put_hex(struct clickhouse *ch, const uint8_t *data, size_t bytes)
{
	char text[2 * PROFILE_IDENTITY_BYTES_MAX + 1];

	rows_put_text(ch, ship_id_hex(text, data, bytes));
}

/*
 * Add the procedures of an image that the database has, unless the batch has them: those of the
 * kernel and of JIT code.
 */
int rows_procedures(struct batch_builder *batch, int64_t image, const struct image_id *id)
{
	struct clickhouse *ch = batch->data;
	struct profile_symbols symbols;
	uint64_t position = 0;
	int r;

	if (!batch->config->procedures)
		return 0;
	/* The check of the batch counts each row once. */
	for (size_t i = 0; i < ch->named_count; i++) {
		if (memcmp(&ch->named[i], id, sizeof(*id)) == 0)
			return 0;
	}
	r = profile_reader_symbols(batch->reader, image, &symbols, batch->err);
	if (r < 0)
		return r;
	if (symbols.count > 0 && array_reserve(&ch->named, &ch->named_capacity, ch->named_count + 1,
					       sizeof(*ch->named)) < 0)
		r = rows_no_memory(batch);
	if (r == 0 && symbols.count > 0)
		ch->named[ch->named_count++] = *id;
	for (size_t i = 0; r == 0 && i < symbols.count; i++) {
		const struct profile_symbol *symbol = &symbols.symbols[i];

		/* Among names of an offset, the first is the best. */
		position = i > 0 && symbol[-1].offset == symbol->offset ? position + 1 : 0;
		rows_begin(batch, CLICKHOUSE_PROCEDURES);
		row_buffer_uuid(ch->target, id->uuid);
		rows_put_u64(ch, symbol->offset);
		rows_put_text(ch, symbol->name);
		rows_put_u64(ch, symbol->bytes);
		rows_put_u32(ch, position);
		r = rows_end(batch, CLICKHOUSE_PROCEDURES, 0);
	}
	profile_symbols_deinit(&symbols);
	return r;
}

static int image_row(struct batch_builder *batch, const struct profile_image *image,
		     const struct image_id *id)
{
	struct clickhouse *ch = batch->data;
	size_t build_id_bytes;
	const uint8_t *build_id = profile_image_build_id(image, &build_id_bytes);

	row_buffer_uuid(ch->target, batch->known->host);
	row_buffer_uuid(ch->target, id->uuid);
	rows_put_text(ch, ship_id_kind(image->kind));
	put_hex(ch, build_id, build_id_bytes);
	put_hex(ch, image->identity, image->identity_bytes);
	rows_put_text(ch, batch->config->paths ? image->path : "");
	rows_put_u64(ch, ch->version);
	return rows_end(batch, CLICKHOUSE_IMAGES, 0);
}

/* Describe an image unless the destination has the same description. */
static int image_describe(struct batch_builder *batch, int64_t number,
			  const struct profile_image *image, const struct image_id *id)
{
	struct clickhouse *ch = batch->data;
	uint8_t key[1 + 16 + 16] = {DESCRIPTION_IMAGE}, digest[16];
	struct row_buffer *before = ch->target;
	int r;

	memcpy(key + 1, batch->known->host, 16);
	memcpy(key + 17, id->uuid, 16);
	row_buffer_clear(&ch->scratch);
	ch->target = &ch->scratch;
	ch->version = 0;
	r = image_row(batch, image, id);
	ship_id_digest(digest, ch->scratch.data, ch->scratch.bytes);
	if (r == 0)
		r = ship_state_describe(batch->state, key, sizeof(key), digest, batch->err);
	ch->version = (uint64_t)batch->number;
	if (r > 0) {
		rows_begin(batch, CLICKHOUSE_IMAGES);
		r = image_row(batch, image, id);
		if (r == 0)
			r = rows_procedures(batch, number, id);
	}
	ch->target = before;
	return r;
}

/* Find the id of an image, which is described if necessary. */
int rows_image(struct batch_builder *batch, int64_t number, const uint8_t **uuid)
{
	struct clickhouse *ch = batch->data;
	uint64_t *position = u64_map_insert(&ch->images, (uint64_t)number);
	struct profile_image image;
	struct image_id id;
	int r;

	if (position == NULL)
		return rows_no_memory(batch);
	if (*position == 0) {
		r = profile_reader_image(batch->reader, number, &image, batch->err);
		if (r == -ENOENT)
			return error_set(batch->err, EBADMSG, ERROR_DATABASE_IMAGE);
		if (r < 0)
			return r;
		if (array_reserve(&ch->ids, &ch->id_capacity, ch->id_count + 1, sizeof(*ch->ids)) <
		    0)
			return rows_no_memory(batch);
		ship_id_image(id.uuid, &image, batch->known->host);
		ch->ids[ch->id_count++] = id;
		*position = ch->id_count;
		r = image_describe(batch, number, &image, &id);
		if (r < 0)
			return r;
	}
	*uuid = ch->ids[*u64_map_find(&ch->images, (uint64_t)number) - 1].uuid;
	return 0;
}
