// SPDX-License-Identifier: GPL-2.0-only
#include "lib/protobuf_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/bounded_reader.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
};

void protobuf_writer_deinit(struct protobuf_writer *message)
{
	free(message->data);
	*message = (struct protobuf_writer){0};
}

void protobuf_writer_clear(struct protobuf_writer *message)
{
	message->bytes = 0;
}

int protobuf_writer_error(const struct protobuf_writer *message)
{
	return message->error;
}

static uint8_t *protobuf_writer_reserve(struct protobuf_writer *message, size_t more)
{
	if (message->error == 0)
		message->error = array_reserve(&message->data, &message->capacity,
					       message->bytes + more, sizeof(*message->data));
	return message->error == 0 ? message->data + message->bytes : NULL;
}

static size_t varint_bytes(uint64_t value)
{
	size_t bytes = 1;

	while ((value >>= 7) != 0)
		bytes++;
	return bytes;
}

static void put_varint(struct protobuf_writer *message, uint64_t value)
{
	uint8_t *to = protobuf_writer_reserve(message, VARINT_BYTES_MAX);

	if (to != NULL)
		message->bytes += varint_write(to, value);
}

static void put_tag(struct protobuf_writer *message, uint32_t field, enum wire_type type)
{
	put_varint(message, (uint64_t)field << 3 | type);
}

void protobuf_writer_number(struct protobuf_writer *message, uint32_t field, uint64_t value)
{
	if (value != 0)
		protobuf_writer_member(message, field, value);
}

void protobuf_writer_member(struct protobuf_writer *message, uint32_t field, uint64_t value)
{
	put_tag(message, field, WIRE_VARINT);
	put_varint(message, value);
}

void protobuf_writer_fixed64(struct protobuf_writer *message, uint32_t field, uint64_t value)
{
	uint8_t *to;

	if (value == 0)
		return;
	put_tag(message, field, WIRE_FIXED64);
	to = protobuf_writer_reserve(message, sizeof(value));
	if (to == NULL)
		return;
	for (size_t i = 0; i < sizeof(value); i++)
		to[i] = (uint8_t)(value >> (8 * i));
	message->bytes += sizeof(value);
}

void protobuf_writer_numbers(struct protobuf_writer *message, uint32_t field,
			     const uint64_t *values, size_t count)
{
	size_t bytes = 0;

	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++)
		bytes += varint_bytes(values[i]);
	put_tag(message, field, WIRE_BYTES);
	put_varint(message, bytes);
	for (size_t i = 0; i < count; i++)
		put_varint(message, values[i]);
}

void protobuf_writer_bytes(struct protobuf_writer *message, uint32_t field, const void *data,
			   size_t bytes)
{
	uint8_t *to;

	put_tag(message, field, WIRE_BYTES);
	put_varint(message, bytes);
	to = protobuf_writer_reserve(message, bytes);
	if (to == NULL || bytes == 0)
		return;
	memcpy(to, data, bytes);
	message->bytes += bytes;
}

void protobuf_writer_text(struct protobuf_writer *message, uint32_t field, const char *text)
{
	protobuf_writer_bytes(message, field, text, strlen(text));
}

void protobuf_writer_message(struct protobuf_writer *message, uint32_t field,
			     const struct protobuf_writer *inner)
{
	if (message->error == 0)
		message->error = inner->error;
	protobuf_writer_bytes(message, field, inner->data, inner->bytes);
}
