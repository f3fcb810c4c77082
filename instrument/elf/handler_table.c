// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/elf/handler_table.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/encoded_pointer.h"
#include "lib/array.h"
#include "lib/partition_point.h"

#define WORD_BYTES 8
#define CHAIN_MAX 1000

/* --- reading -------------------------------------------------------------- */

struct parser {
	struct handler_table *table;
	struct bounded_reader reader;
	const uint8_t *first;
	uint64_t address; /* of the table */
	uint64_t frame;
};

static uint64_t handler_table_place_of(const struct parser *parser)
{
	return parser->address + (uint64_t)(parser->reader.position - parser->first);
}

static int read_calls(struct parser *parser)
{
	struct handler_table *table = parser->table;
	uint8_t encoding = bounded_reader_u8(&parser->reader);
	size_t number = encoded_pointer_bytes(encoding, WORD_BYTES);
	uint64_t bytes = bounded_reader_uleb128(&parser->reader);
	struct bounded_reader own;
	uint64_t fields[3];

	if ((encoding & ~ENCODED_POINTER_FORMAT) != 0 ||
	    (number == 0 && encoding != DW_EH_PE_uleb128) ||
	    bytes > bounded_reader_left(&parser->reader))
		return -ENOTSUP;
	bounded_reader_init(&own, bounded_reader_bytes(&parser->reader, bytes), bytes);
	while (bounded_reader_left(&own) > 0 && !bounded_reader_failed(&own)) {
		for (int i = 0; i < 3; i++)
			fields[i] = number == 0 ? bounded_reader_uleb128(&own)
						: encoded_pointer_read(&own, encoding, number);
		if (array_reserve(&table->calls, &table->capacity, table->count + 1,
				  sizeof(*table->calls)) < 0)
			return -ENOMEM;
		table->calls[table->count++] = (struct handler_calls){
			.start = parser->frame + fields[0],
			.end = parser->frame + fields[0] + fields[1],
			.pad = fields[2],
			.action = bounded_reader_uleb128(&own),
		};
	}
	return bounded_reader_failed(&own) ? -ENOTSUP : 0;
}

/* A list of types that may be thrown follows the type table and ends with a zero. */
static int measure_specification(struct parser *parser, uint64_t offset)
{
	struct handler_table *table = parser->table;
	struct bounded_reader list;

	if (table->type_end == NULL || offset > (uint64_t)(parser->reader.end - table->type_end))
		return -ENOTSUP;
	bounded_reader_init(&list, table->type_end + offset,
			    (size_t)(parser->reader.end - table->type_end) - offset);
	while (!bounded_reader_failed(&list) && bounded_reader_uleb128(&list) != 0)
		;
	if (bounded_reader_failed(&list))
		return -ENOTSUP;
	if (table->specification_bytes < (size_t)(list.position - table->type_end))
		table->specification_bytes = (size_t)(list.position - table->type_end);
	return 0;
}

/* Find the extent of a chain of action records, and the types that it uses. */
static int measure_actions(struct parser *parser, uint64_t action)
{
	struct handler_table *table = parser->table;
	uint64_t at = action - 1, left = bounded_reader_left(&parser->reader);

	for (int i = 0; i < CHAIN_MAX; i++) {
		struct bounded_reader record;
		const uint8_t *link;
		int64_t filter, next;

		if (at >= left)
			return -ENOTSUP;
		bounded_reader_init(&record, table->actions + at, left - at);
		filter = bounded_reader_sleb128(&record);
		link = record.position;
		next = bounded_reader_sleb128(&record);
		if (bounded_reader_failed(&record))
			return -ENOTSUP;
		if (table->action_bytes < (size_t)(record.position - table->actions))
			table->action_bytes = (size_t)(record.position - table->actions);
		if (filter > 0 && (uint64_t)filter > table->type_count)
			table->type_count = (size_t)filter;
		if (filter < 0 && measure_specification(parser, (uint64_t)-filter - 1) < 0)
			return -ENOTSUP;
		if (next == 0)
			return 0;
		at = (uint64_t)(link - table->actions) + (uint64_t)next;
	}
	return -ENOTSUP;
}

static int read_types(struct parser *parser)
{
	struct handler_table *table = parser->table;
	size_t bytes = encoded_pointer_bytes(table->type_encoding, WORD_BYTES);
	int r = 0;

	table->actions = parser->reader.position;
	for (size_t i = 0; r == 0 && i < table->count; i++) {
		if (table->calls[i].action != 0)
			r = measure_actions(parser, table->calls[i].action);
	}
	if (r < 0 || table->type_count == 0)
		return r;
	if (table->type_end == NULL || bytes == 0 || table->type_end < table->actions ||
	    table->type_count > (size_t)(table->type_end - table->actions) / bytes)
		return -ENOTSUP;
	return 0;
}

static int parse(struct parser *parser)
{
	struct handler_table *table = parser->table;
	uint8_t base = bounded_reader_u8(&parser->reader);
	uint64_t place = handler_table_place_of(parser), offset;
	int r;

	table->base = parser->frame;
	if (base != DW_EH_PE_omit &&
	    encoded_pointer_resolve(&table->base, &parser->reader, base, WORD_BYTES, place) < 0)
		return -ENOTSUP;
	table->type_encoding = bounded_reader_u8(&parser->reader);
	if (table->type_encoding != DW_EH_PE_omit) {
		offset = bounded_reader_uleb128(&parser->reader);
		if (offset > bounded_reader_left(&parser->reader))
			return -ENOTSUP;
		table->type_end = parser->reader.position + offset;
		table->types = handler_table_place_of(parser) + offset;
	}
	r = read_calls(parser);
	if (r == 0)
		r = read_types(parser);
	return r == 0 && bounded_reader_failed(&parser->reader) ? -ENOTSUP : r;
}

int handler_table_parse(struct handler_table *ret, const uint8_t *bytes, size_t count,
			uint64_t address, uint64_t frame)
{
	struct parser parser = {.table = ret, .first = bytes, .address = address, .frame = frame};
	int r;

	*ret = (struct handler_table){0};
	bounded_reader_init(&parser.reader, bytes, count);
	r = parse(&parser);
	if (r < 0)
		handler_table_deinit(ret);
	return r;
}

void handler_table_deinit(struct handler_table *table)
{
	free(table->calls);
	*table = (struct handler_table){0};
}

/* --- writing -------------------------------------------------------------- */

struct writer {
	uint8_t *data;
	size_t bytes;
	size_t capacity;
	uint64_t address; /* of its first byte */
	int error;
};

static void handler_table_put(struct writer *writer, const void *bytes, size_t count)
{
	if (writer->error == 0 &&
	    array_reserve(&writer->data, &writer->capacity, writer->bytes + count + 1, 1) < 0)
		writer->error = -ENOMEM;
	if (writer->error != 0 || count == 0)
		return;
	memcpy(writer->data + writer->bytes, bytes, count);
	writer->bytes += count;
}

static void put_u8(struct writer *writer, uint8_t value)
{
	handler_table_put(writer, &value, sizeof(value));
}

static void put_unsigned(struct writer *writer, uint64_t value)
{
	uint8_t bytes[VARINT_BYTES_MAX];

	handler_table_put(writer, bytes, varint_write(bytes, value));
}

static size_t unsigned_bytes(uint64_t value)
{
	uint8_t bytes[VARINT_BYTES_MAX];

	return varint_write(bytes, value);
}

/* Write an address as a relative distance of four bytes. */
static void put_relative(struct writer *writer, uint64_t target)
{
	int64_t distance = (int64_t)(target - (writer->address + writer->bytes));
	int32_t narrow = (int32_t)distance;

	if (narrow != distance && writer->error == 0)
		writer->error = -ENOTSUP;
	handler_table_put(writer, &narrow, sizeof(narrow));
}

static void put_calls(struct writer *writer, const struct handler_calls *calls, size_t count,
		      uint64_t start)
{
	for (size_t i = 0; i < count; i++) {
		put_unsigned(writer, calls[i].start - start);
		put_unsigned(writer, calls[i].end - calls[i].start);
		put_unsigned(writer, calls[i].pad);
		put_unsigned(writer, calls[i].action);
	}
}

/* Write the types; a type relative to its own position is adjusted. */
static void put_types(struct writer *writer, const struct handler_table *table)
{
	size_t bytes = encoded_pointer_bytes(table->type_encoding, WORD_BYTES);
	bool relative = (table->type_encoding & ENCODED_POINTER_BASE) == DW_EH_PE_pcrel;

	for (size_t i = table->type_count; i > 0; i--) {
		const uint8_t *old = table->type_end - i * bytes;
		struct bounded_reader reader;
		uint64_t value;

		bounded_reader_init(&reader, old, bytes);
		value = encoded_pointer_read(&reader, table->type_encoding, bytes);
		if (relative && value != 0)
			value += table->types - i * bytes - (writer->address + writer->bytes);
		if (bytes == 4 && relative && (int64_t)value != (int32_t)value &&
		    writer->error == 0)
			writer->error = -ENOTSUP;
		handler_table_put(writer, &value, bytes);
	}
}

const struct handler_calls *handler_table_find(const struct handler_table *table, uint64_t address)
{
	size_t low = partition_point(0, table->count, i, table->calls[i].start <= address);

	return low > 0 && address < table->calls[low - 1].end ? &table->calls[low - 1] : NULL;
}

int handler_table_write(const struct handler_table *table, const struct handler_calls *calls,
			size_t count, uint8_t **out, size_t *bytes, size_t *capacity,
			uint64_t address, uint64_t start)
{
	struct writer writer = {
		.data = *out, .bytes = *bytes, .capacity = *capacity, .address = address};
	struct writer places = {0};
	size_t type_bytes =
		table->type_count * encoded_pointer_bytes(table->type_encoding, WORD_BYTES);

	put_calls(&places, calls, count, start);
	put_u8(&writer, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	put_relative(&writer, table->base);
	put_u8(&writer, table->type_encoding);
	if (table->type_encoding != DW_EH_PE_omit)
		put_unsigned(&writer, 1 + unsigned_bytes(places.bytes) + places.bytes +
					      table->action_bytes + type_bytes);
	put_u8(&writer, DW_EH_PE_uleb128);
	put_unsigned(&writer, places.bytes);
	handler_table_put(&writer, places.data, places.bytes);
	handler_table_put(&writer, table->actions, table->action_bytes);
	if (table->type_count > 0)
		put_types(&writer, table);
	if (table->specification_bytes > 0)
		handler_table_put(&writer, table->type_end, table->specification_bytes);
	*out = writer.data;
	*bytes = writer.bytes;
	*capacity = writer.capacity;
	free(places.data);
	return places.error != 0 ? places.error : writer.error;
}
