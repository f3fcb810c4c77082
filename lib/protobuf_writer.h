/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writer of the protocol buffers wire format: integers, bytes, and nested messages. (protobuf-c
 * would need a compiler at build time and the whole message in memory as a tree.)
 */
#ifndef DCPI_PROTOBUF_WRITER_H
#define DCPI_PROTOBUF_WRITER_H

#include <stddef.h>
#include <stdint.h>

/** struct protobuf_writer - a message; zero-initialised: empty; @bytes of @data are in use */
struct protobuf_writer {
	uint8_t *data;
	size_t bytes;
	size_t capacity;
	int error;
};

/** protobuf_writer_deinit() - free; the message is empty afterwards */
void protobuf_writer_deinit(struct protobuf_writer *message);

/** protobuf_writer_clear() - make the message empty, but keep its memory for the next one */
void protobuf_writer_clear(struct protobuf_writer *message);

/** protobuf_writer_number() - add a field of type int64 or uint64; 0, the default, is omitted */
void protobuf_writer_number(struct protobuf_writer *message, uint32_t field, uint64_t value);

/** protobuf_writer_member() - the same for a member of a oneof, which is never omitted */
void protobuf_writer_member(struct protobuf_writer *message, uint32_t field, uint64_t value);

/** protobuf_writer_fixed64() - add a field of type fixed64; 0, the default, is omitted */
void protobuf_writer_fixed64(struct protobuf_writer *message, uint32_t field, uint64_t value);

/** protobuf_writer_numbers() - add a packed repeated field of these types */
void protobuf_writer_numbers(struct protobuf_writer *message, uint32_t field,
			     const uint64_t *values, size_t count);

/** protobuf_writer_bytes() - add a string, bytes or a message, even if it is empty */
void protobuf_writer_bytes(struct protobuf_writer *message, uint32_t field, const void *data,
			   size_t bytes);

/** protobuf_writer_text() - add a string, even if it is empty; @text: UTF-8 */
void protobuf_writer_text(struct protobuf_writer *message, uint32_t field, const char *text);

/** protobuf_writer_message() - add a nested message; its error is taken over */
void protobuf_writer_message(struct protobuf_writer *message, uint32_t field,
			     const struct protobuf_writer *inner);

/** protobuf_writer_error() - Return: 0, or -ENOMEM if a field could not be added */
int protobuf_writer_error(const struct protobuf_writer *message);

#endif
