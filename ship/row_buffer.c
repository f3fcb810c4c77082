// SPDX-License-Identifier: GPL-2.0-only
#include "ship/row_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

#define LENGTH_BYTES_MAX 10

void row_buffer_deinit(struct row_buffer *buffer)
{
	free(buffer->data);
	memset(buffer, 0, sizeof(*buffer));
}

void row_buffer_clear(struct row_buffer *buffer)
{
	buffer->bytes = 0;
	buffer->rows = 0;
}

static bool reserve(struct row_buffer *buffer, size_t bytes)
{
	if (!buffer->failed &&
	    array_reserve(&buffer->data, &buffer->capacity, buffer->bytes + bytes, 1) < 0)
		buffer->failed = true;
	return !buffer->failed;
}

void row_buffer_number(struct row_buffer *buffer, uint64_t value, size_t bytes)
{
	if (!reserve(buffer, bytes))
		return;
	for (size_t i = 0; i < bytes; i++)
		buffer->data[buffer->bytes++] = (uint8_t)(value >> (8 * i));
}

void row_buffer_length(struct row_buffer *buffer, size_t length)
{
	if (!reserve(buffer, LENGTH_BYTES_MAX))
		return;
	for (; length >= 0x80; length >>= 7)
		buffer->data[buffer->bytes++] = (uint8_t)(length | 0x80);
	buffer->data[buffer->bytes++] = (uint8_t)length;
}

void row_buffer_bytes(struct row_buffer *buffer, const void *data, size_t bytes)
{
	if (bytes == 0 || !reserve(buffer, bytes))
		return;
	memcpy(buffer->data + buffer->bytes, data, bytes);
	buffer->bytes += bytes;
}

void row_buffer_text(struct row_buffer *buffer, const char *text)
{
	size_t bytes = strlen(text);

	row_buffer_length(buffer, bytes);
	row_buffer_bytes(buffer, text, bytes);
}

uint8_t *row_buffer_room(struct row_buffer *buffer, size_t bytes)
{
	if (!reserve(buffer, bytes))
		return NULL;
	buffer->bytes += bytes;
	return buffer->data + buffer->bytes - bytes;
}

void row_uuid_write(uint8_t to[16], const uint8_t uuid[16])
{
	for (size_t i = 0; i < 16; i++)
		to[i] = uuid[i < 8 ? 7 - i : 23 - i];
}

void row_buffer_uuid(struct row_buffer *buffer, const uint8_t uuid[16])
{
	if (!reserve(buffer, 16))
		return;
	row_uuid_write(buffer->data + buffer->bytes, uuid);
	buffer->bytes += 16;
}
