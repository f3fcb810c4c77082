/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows in ClickHouse's format RowBinary: the values of all columns one after the other, numbers in
 * little endian, texts and arrays after their length.
 */
#ifndef DCPI_ROW_BUFFER_H
#define DCPI_ROW_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct row_buffer - zero-initialised is empty
 * @failed: out of memory; further values are ignored
 */
struct row_buffer {
	uint8_t *data;
	size_t bytes;
	size_t capacity;
	uint64_t rows;
	bool failed;
};

void row_buffer_deinit(struct row_buffer *buffer);

/** row_buffer_clear() - remove all rows, but keep the memory */
void row_buffer_clear(struct row_buffer *buffer);

/** row_buffer_number() - add a number of @bytes bytes, 1 to 8; signed ones are in two's complement
 */
void row_buffer_number(struct row_buffer *buffer, uint64_t value, size_t bytes);

/** row_buffer_text() - add a String */
void row_buffer_text(struct row_buffer *buffer, const char *text);

/** row_buffer_length() - add a length in the format LEB128 */
void row_buffer_length(struct row_buffer *buffer, size_t length);

/** row_buffer_bytes() - add bytes without a length */
void row_buffer_bytes(struct row_buffer *buffer, const void *data, size_t bytes);

/** row_buffer_room() - add @bytes bytes that the caller fills. Return: NULL: out of memory. */
uint8_t *row_buffer_room(struct row_buffer *buffer, size_t bytes);

/** row_uuid_write() - write a UUID as in RowBinary and Native */
void row_uuid_write(uint8_t to[16], const uint8_t uuid[16]);

/** row_buffer_uuid() - add a UUID, whose two halves are numbers of 64 bits */
void row_buffer_uuid(struct row_buffer *buffer, const uint8_t uuid[16]);

#endif
