// SPDX-License-Identifier: GPL-2.0-only
#include "db/recording_blob.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "db/bits.h"
#include "lib/array.h"
#include "lib/bounded_reader.h"

#define COLUMN_BYTES_MAX (RECORDING_BLOB_BLOCK * BITS_CODE_BYTES_MAX + 1 + BITS_SLACK_BYTES)
/* Upper bound, with some margin, of the bytes that zlib can produce from one byte. */
#define UNPACKED_MAX 1100
/* Keys of other blobs are built from another number of words, or have another one here. */
#define KEY_WORD 0x64726f636572ULL

void recording_content_deinit(struct recording_content *content)
{
	for (unsigned int i = 0; i < PROFILE_RECORDING_TABLES_MAX; i++)
		free(content->values[i]);
	free(content->texts);
	free(content->text);
	*content = (struct recording_content){0};
}

uint32_t recording_blob_key(int64_t epoch, int64_t image, int64_t mode)
{
	uint64_t words[6] = {
		htole64((uint64_t)epoch),
		htole64((uint64_t)image),
		htole64((uint64_t)mode),
		htole64(KEY_WORD),
	};

	return (uint32_t)crc32(0, (const Bytef *)words, sizeof(words));
}

static uint64_t zigzag(uint64_t distance)
{
	return distance << 1 ^ (0 - (distance >> 63));
}

static uint64_t unzigzag(uint64_t code)
{
	return code >> 1 ^ (0 - (code & 1));
}

/* --- writing -------------------------------------------------------------- */

static int put_numbers(struct profile_blob *blob, const uint64_t *numbers, size_t count)
{
	if (array_reserve(&blob->data, &blob->capacity, blob->bytes + count * VARINT_BYTES_MAX, 1) <
	    0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		blob->bytes += varint_write(blob->data + blob->bytes, numbers[i]);
	return 0;
}

/* Concatenate all texts. Return: NULL: no memory. */
static char *join_texts(const struct profile_recording *recording, size_t *length)
{
	char *joined, *at;

	*length = 0;
	for (size_t i = 0; i < recording->text_count; i++)
		*length += strlen(recording->texts[i]) + 1;
	joined = at = malloc(*length + 1);
	for (size_t i = 0; joined != NULL && i < recording->text_count; i++)
		at = stpcpy(at, recording->texts[i]) + 1;
	return joined;
}

static int put_texts(struct profile_blob *blob, const struct profile_recording *recording)
{
	size_t length;
	char *joined = join_texts(recording, &length);
	uLongf packed = compressBound(length);
	uint8_t *bytes = malloc(packed);
	int r = joined != NULL && bytes != NULL ? 0 : -ENOMEM;

	if (r == 0 && length > RECORDING_BLOB_TEXT_MAX)
		r = -EINVAL;
	if (r == 0 &&
	    compress2(bytes, &packed, (const Bytef *)joined, length, Z_DEFAULT_COMPRESSION) != Z_OK)
		r = -ENOMEM;
	if (r == 0)
		r = put_numbers(blob, (uint64_t[]){recording->text_count, length, packed}, 3);
	if (r == 0)
		r = array_reserve(&blob->data, &blob->capacity, blob->bytes + packed, 1);
	if (r == 0) {
		memcpy(blob->data + blob->bytes, bytes, packed);
		blob->bytes += packed;
	}
	free(joined);
	free(bytes);
	return r;
}

static int put_shapes(struct profile_blob *blob, const struct profile_recording *recording,
		      uint64_t *rows)
{
	const uint64_t count = recording->table_count;
	int r = put_numbers(blob, &count, 1);

	*rows = 0;
	for (unsigned int i = 0; r == 0 && i < recording->table_count; i++) {
		const struct profile_recording_table *table = &recording->tables[i];

		*rows += table->rows;
		r = put_numbers(blob, (uint64_t[]){table->columns, table->rows}, 2);
	}
	return r;
}

/* Write some rows of a column; @before: value in the row before them. */
static int put_column(struct bits_writer *result, const uint64_t *values, unsigned int columns,
		      size_t rows, uint64_t before)
{
	struct bits_writer writer = *result; /* in registers */
	uint64_t codes[RECORDING_BLOB_BLOCK];
	unsigned int lengths[65] = {0}, k;

	for (size_t i = 0; i < rows; i++, values += columns) {
		if (*values > PROFILE_RECORDING_VALUE_MAX)
			return -EOVERFLOW;
		codes[i] = zigzag(*values - before);
		lengths[bits_length(codes[i])]++;
		before = *values;
	}
	k = bits_order(lengths, (unsigned int)rows);
	bits_put(&writer, k, BITS_ORDER_BITS);
	for (size_t i = 0; i < rows; i++)
		bits_put_code(&writer, codes[i], k);
	*result = writer;
	return 0;
}

static int put_table(struct profile_blob *blob, struct bits_writer *writer,
		     const struct profile_recording_table *table)
{
	size_t rows;
	int r = 0;

	for (size_t row = 0; r == 0 && row < table->rows; row += rows) {
		const uint64_t *values = profile_recording_row(table, row);

		rows = table->rows - row < RECORDING_BLOB_BLOCK ? table->rows - row
								: RECORDING_BLOB_BLOCK;
		if (array_reserve(&blob->data, &blob->capacity,
				  blob->bytes + table->columns * COLUMN_BYTES_MAX +
					  PROFILE_BLOB_CRC_BYTES,
				  1) < 0)
			return -ENOMEM;
		writer->position = blob->data + blob->bytes;
		for (unsigned int c = 0; r == 0 && c < table->columns; c++)
			r = put_column(writer, values + c, table->columns, rows,
				       row > 0 ? *(values + c - table->columns) : 0);
		blob->bytes = (size_t)(writer->position - blob->data);
	}
	return r;
}

static bool shapes_fit(const struct profile_recording *recording)
{
	if (recording->table_count > PROFILE_RECORDING_TABLES_MAX)
		return false;
	for (unsigned int i = 0; i < recording->table_count; i++) {
		if (recording->tables[i].columns == 0 ||
		    recording->tables[i].columns > PROFILE_RECORDING_COLUMNS_MAX)
			return false;
	}
	return true;
}

int recording_blob_encode(struct profile_blob *blob, uint32_t key,
			  const struct profile_recording *recording, uint64_t *rows)
{
	struct bits_writer writer = {0};
	int r;

	if (!shapes_fit(recording))
		return -EINVAL;
	if (array_reserve(&blob->data, &blob->capacity, 1, 1) < 0)
		return -ENOMEM;
	blob->data[0] = RECORDING_BLOB_VERSION;
	blob->bytes = 1;
	r = put_texts(blob, recording);
	if (r == 0)
		r = put_shapes(blob, recording, rows);
	for (unsigned int i = 0; r == 0 && i < recording->table_count; i++)
		r = put_table(blob, &writer, &recording->tables[i]);
	if (r == 0)
		r = array_reserve(&blob->data, &blob->capacity,
				  blob->bytes + 1 + PROFILE_BLOB_CRC_BYTES, 1);
	if (r < 0)
		return r;
	writer.position = blob->data + blob->bytes;
	blob->bytes = (size_t)(bits_finish(&writer) - blob->data);
	profile_blob_append_crc(blob, key);
	return 0;
}

/* --- reading -------------------------------------------------------------- */

/* Check that each text ends within @length, and that the last one ends there. */
static int split_texts(struct recording_content *content, size_t count, size_t length)
{
	const char *at = content->text, *end = content->text + length;

	/* A text has at least one byte. */
	if (count > length)
		return -EBADMSG;
	content->texts = calloc(count + 1, sizeof(*content->texts));
	if (content->texts == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const char *next = memchr(at, '\0', (size_t)(end - at));

		if (next == NULL)
			return -EBADMSG;
		content->texts[i] = at;
		at = next + 1;
	}
	content->recording.texts = content->texts;
	content->recording.text_count = count;
	return at == end ? 0 : -EBADMSG;
}

static int take_texts(struct recording_content *content, struct bounded_reader *reader)
{
	uint64_t count = bounded_reader_varint(reader);
	uint64_t length = bounded_reader_varint(reader);
	uint64_t packed = bounded_reader_varint(reader);
	const void *data;
	uLongf got = length;
	uLong source = packed;

	if (bounded_reader_failed(reader) || packed > bounded_reader_left(reader) ||
	    length > RECORDING_BLOB_TEXT_MAX || length / UNPACKED_MAX > packed)
		return -EBADMSG;
	data = bounded_reader_bytes(reader, packed);
	content->text = malloc(length + 1);
	if (content->text == NULL)
		return -ENOMEM;
	if (data == NULL || uncompress2((Bytef *)content->text, &got, data, &source) != Z_OK ||
	    got != length || source != packed)
		return -EBADMSG;
	return split_texts(content, count, length);
}

static int take_shapes(struct profile_recording *recording, struct bounded_reader *reader)
{
	uint64_t tables = bounded_reader_varint(reader), numbers = 0;

	if (tables > PROFILE_RECORDING_TABLES_MAX)
		return -EBADMSG;
	recording->table_count = (unsigned int)tables;
	for (unsigned int i = 0; i < tables; i++) {
		uint64_t columns = bounded_reader_varint(reader);
		uint64_t rows = bounded_reader_varint(reader);

		/* A number takes at least one bit, so the blob's size is a bound. */
		if (columns == 0 || columns > PROFILE_RECORDING_COLUMNS_MAX ||
		    rows > 8 * bounded_reader_left(reader))
			return -EBADMSG;
		numbers += columns * rows;
		recording->tables[i].columns = (unsigned int)columns;
		recording->tables[i].rows = rows;
	}
	return bounded_reader_failed(reader) || numbers > 8 * bounded_reader_left(reader) ? -EBADMSG
											  : 0;
}

static bool take_column(struct bits_reader *result, uint64_t *values, unsigned int columns,
			size_t rows, uint64_t before)
{
	struct bits_reader reader = *result; /* in registers */
	unsigned int k = (unsigned int)bits_take(&reader, BITS_ORDER_BITS);

	for (size_t i = 0; i < rows; i++, values += columns) {
		bits_refill(&reader);
		before += unzigzag(bits_take_code(&reader, k));
		if (reader.failed || before > PROFILE_RECORDING_VALUE_MAX)
			return false;
		*values = before;
	}
	*result = reader;
	return true;
}

static bool take_table(struct bits_reader *bits, const struct profile_recording_table *table,
		       uint64_t *values)
{
	size_t rows;

	for (size_t row = 0; row < table->rows; row += rows, values += rows * table->columns) {
		rows = table->rows - row < RECORDING_BLOB_BLOCK ? table->rows - row
								: RECORDING_BLOB_BLOCK;
		for (unsigned int c = 0; c < table->columns; c++) {
			if (!take_column(bits, values + c, table->columns, rows,
					 row > 0 ? *(values + c - table->columns) : 0))
				return false;
		}
	}
	return true;
}

static int take_tables(struct recording_content *content, struct bits_reader *bits)
{
	for (unsigned int i = 0; i < content->recording.table_count; i++) {
		struct profile_recording_table *table = &content->recording.tables[i];

		content->values[i] =
			malloc((table->rows * table->columns + 1) * sizeof(**content->values));
		if (content->values[i] == NULL)
			return -ENOMEM;
		table->values = content->values[i];
		if (!take_table(bits, table, content->values[i]))
			return -EBADMSG;
	}
	return bits_at_end(bits) ? 0 : -EBADMSG;
}

int recording_blob_decode(struct recording_content *ret, uint32_t key, const void *data,
			  size_t bytes)
{
	struct bounded_reader reader;
	struct bits_reader bits = {0};
	int r = profile_blob_open(&reader, key, data, bytes);

	recording_content_deinit(ret);
	if (r < 0)
		return r;
	if (bounded_reader_u8(&reader) != RECORDING_BLOB_VERSION)
		return bounded_reader_failed(&reader) ? -EBADMSG : -EPROTO;
	r = take_texts(ret, &reader);
	if (r == 0)
		r = take_shapes(&ret->recording, &reader);
	bits.end = (const uint8_t *)data + bytes - PROFILE_BLOB_CRC_BYTES;
	bits.position = bits.end - bounded_reader_left(&reader);
	if (r == 0)
		r = take_tables(ret, &bits);
	if (r < 0)
		recording_content_deinit(ret);
	return r;
}
