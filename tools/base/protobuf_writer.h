/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Protocol buffers' wire format, as much of it as is needed to write: numbers, bytes,
 * and messages inside messages. (protobuf-c would want a compiler at build time and
 * the whole message in memory as a tree.)
 */
#ifndef DCPI_PROTOBUF_WRITER_H
#define DCPI_PROTOBUF_WRITER_H

#include <stddef.h>
#include <stdint.h>

/** struct protobuf_writer - a message; zero-initialised is empty; @bytes of @data are written. */
struct protobuf_writer {
	uint8_t *data;
	size_t bytes;
	size_t capacity;
	int error;
};

/** protobuf_writer_deinit() - free; the message is empty again. */
void protobuf_writer_deinit(struct protobuf_writer *message);

/** protobuf_writer_clear() - empty, with its memory kept for the next one. */
void protobuf_writer_clear(struct protobuf_writer *message);

/** protobuf_writer_number() - a field of type int64 or uint64; 0, the default, is left out. */
void protobuf_writer_number(struct protobuf_writer *message, uint32_t field, uint64_t value);

/** protobuf_writer_numbers() - a repeated field of such, packed. */
void protobuf_writer_numbers(struct protobuf_writer *message, uint32_t field,
			     const uint64_t *values, size_t count);

/** protobuf_writer_bytes() - a string, bytes or a message; also if it is empty. */
void protobuf_writer_bytes(struct protobuf_writer *message, uint32_t field, const void *data,
			   size_t bytes);

/** protobuf_writer_message() - another message, whose error is ours too. */
void protobuf_writer_message(struct protobuf_writer *message, uint32_t field,
			     const struct protobuf_writer *inner);

/** protobuf_writer_error() - 0, or -ENOMEM: something has not been written. */
int protobuf_writer_error(const struct protobuf_writer *message);

#endif
