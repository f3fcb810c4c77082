// SPDX-License-Identifier: GPL-2.0-only
/* Rows of samples, in the format Native. */
#include "ship/rows.h"

#include <endian.h>
#include <string.h>

#include "db/profile_read.h"
#include "ship/ship_config.h"

/* Bytes of a row without compression. */
#define SAMPLE_ROW_BYTES 98

/* Columns of the table of samples, in the order of its definition. */
enum sample_column {
	SAMPLE_DAY,
	SAMPLE_HOST,
	SAMPLE_EPOCH,
	SAMPLE_START,
	SAMPLE_END,
	SAMPLE_IMAGE,
	SAMPLE_EVENT,
	SAMPLE_PID,
	SAMPLE_LABEL,
	SAMPLE_OFFSET,
	SAMPLE_COUNT,
};

/* Add the columns that are equal for all samples of a profile. */
static int put_sample_keys(struct batch_builder *batch, const struct profile *profile,
			   const uint8_t image[16], int64_t pid, uint32_t label, size_t count)
{
	struct clickhouse *ch = batch->data;
	struct native_block *block = &ch->samples_block;
	const uint16_t day = htole16(rows_day(ch->slice->start_ns));
	const uint64_t start = htole64((uint64_t)ch->slice->start_ns);
	const uint64_t end = htole64((uint64_t)ch->slice->end_ns);
	const uint64_t process = htole64((uint64_t)pid);
	const uint32_t event = htole32(profile->event), unit = htole32(label);
	uint8_t host[16], epoch[16], version[16];
	int r;

	row_uuid_write(host, batch->known->host);
	row_uuid_write(epoch, batch->known->uuid);
	row_uuid_write(version, image);
	r = native_block_repeat(block, SAMPLE_DAY, &day, sizeof(day), count);
	if (r == 0)
		r = native_block_repeat(block, SAMPLE_HOST, host, sizeof(host), count);
	if (r == 0)
		r = native_block_repeat(block, SAMPLE_EPOCH, epoch, sizeof(epoch), count);
	if (r == 0)
		r = native_block_repeat(block, SAMPLE_START, &start, sizeof(start), count);
	if (r == 0)
		r = native_block_repeat(block, SAMPLE_END, &end, sizeof(end), count);
	if (r == 0)
		r = native_block_repeat(block, SAMPLE_IMAGE, version, sizeof(version), count);
	if (r == 0)
		r = native_block_repeat(block, SAMPLE_EVENT, &event, sizeof(event), count);
	if (r == 0)
		r = native_block_repeat(block, SAMPLE_PID, &process, sizeof(process), count);
	return r == 0 ? native_block_repeat(block, SAMPLE_LABEL, &unit, sizeof(unit), count) : r;
}

int rows_samples_flush(struct batch_builder *batch)
{
	struct clickhouse *ch = batch->data;
	struct native_block *block = &ch->samples_block;
	struct ship_request request = {
		.target = CLICKHOUSE_SAMPLES_NATIVE,
		.expect = "",
		.entries = block->rows,
		.compressed = true,
	};
	const struct row_buffer *body;

	if (block->rows == 0)
		return 0;
	body = native_block_compress(block, &clickhouse_definitions[CLICKHOUSE_SAMPLES],
				     SAMPLE_OFFSET);
	native_block_clear(block);
	if (body == NULL)
		return rows_no_memory(batch);
	request.body = body->data;
	request.bytes = body->bytes;
	return ship_state_request_add(batch->state, batch->number, &request, batch->err);
}

int rows_samples(struct batch_builder *batch, const struct profile *profile,
		 const uint8_t image[16], int64_t pid, uint32_t label)
{
	struct clickhouse *ch = batch->data;
	struct native_block *block = &ch->samples_block;
	size_t limit = batch->config->request_kb * 1024 / SAMPLE_ROW_BYTES, count;
	int r = 0;

	for (size_t first = 0; r == 0 && first < profile->count; first += count) {
		uint8_t *offsets, *counts;

		count = profile->count - first;
		if (count > limit - block->rows)
			count = limit - block->rows;
		offsets = row_buffer_room(&block->tail[SAMPLE_OFFSET], 8 * count);
		counts = row_buffer_room(&block->tail[SAMPLE_COUNT], 8 * count);
		if (offsets == NULL || counts == NULL ||
		    put_sample_keys(batch, profile, image, pid, label, count) < 0)
			return rows_no_memory(batch);
		for (size_t i = 0; i < count; i++) {
			const struct profile_sample *sample = &profile->samples[first + i];
			const uint64_t offset = htole64(sample->offset);
			const uint64_t samples = htole64(sample->count);

			memcpy(offsets + 8 * i, &offset, 8);
			memcpy(counts + 8 * i, &samples, 8);
			ch->sums[CLICKHOUSE_SAMPLES] += sample->count;
		}
		ch->sent[CLICKHOUSE_SAMPLES] += count;
		block->rows += count;
		if (block->rows == limit)
			r = rows_samples_flush(batch);
	}
	return r;
}
