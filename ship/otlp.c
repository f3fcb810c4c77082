// SPDX-License-Identifier: GPL-2.0-only
/*
 * The protocol OTLP over HTTP with binary protobuf. ship/format_otlp.c makes the requests.
 *
 * A response may report that the destination has rejected profiles. They are counted, and not sent
 * again, as the specification demands.
 */
#include <stdbool.h>
#include <stddef.h>

#include "lib/bounded_reader.h"
#include "ship/profile_format.h"

#define OTLP_PATH "v1development/profiles"

/* Field numbers of ExportProfilesServiceResponse and ExportProfilesPartialSuccess. */
enum {
	RESPONSE_PARTIAL_SUCCESS = 1,
	PARTIAL_SUCCESS_REJECTED = 1,
	PARTIAL_SUCCESS_MESSAGE = 2,
};

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_FIXED32 = 5,
};

/* struct field - of a message; WIRE_BYTES: @value bytes at @data */
struct field {
	uint64_t number;
	uint64_t type;
	uint64_t value;
	const void *data;
};

/* Read the next field of a message. Return: false at its end, and if it is damaged. */
static bool field_read(struct bounded_reader *reader, struct field *field)
{
	uint64_t tag;

	if (bounded_reader_left(reader) == 0 || bounded_reader_failed(reader))
		return false;
	tag = bounded_reader_uleb128(reader);
	*field = (struct field){.number = tag >> 3, .type = tag & 7};
	switch (field->type) {
	case WIRE_VARINT:
		field->value = bounded_reader_uleb128(reader);
		break;
	case WIRE_FIXED64:
		field->value = bounded_reader_u64(reader);
		break;
	case WIRE_FIXED32:
		field->value = bounded_reader_u32(reader);
		break;
	case WIRE_BYTES:
		field->value = bounded_reader_uleb128(reader);
		field->data = bounded_reader_bytes(reader, field->value);
		break;
	default:
		reader->failed = true;
	}
	return field->number != 0 && !bounded_reader_failed(reader);
}

/* Read ExportProfilesPartialSuccess. Return: false if it is damaged. */
static bool partial_read(const struct field *message, struct http_response *response)
{
	struct bounded_reader reader;
	struct field field;

	bounded_reader_init(&reader, message->data, message->value);
	while (field_read(&reader, &field)) {
		if (field.number == PARTIAL_SUCCESS_REJECTED && field.type == WIRE_VARINT)
			response->rejected = field.value <= INT64_MAX ? field.value : 0;
		if (field.number == PARTIAL_SUCCESS_MESSAGE && field.type == WIRE_BYTES)
			http_response_set(response, HTTP_DONE, "the destination reports: %.*s",
					  (int)(field.value < 400 ? field.value : 400),
					  (const char *)field.data);
	}
	return !bounded_reader_failed(&reader) && bounded_reader_left(&reader) == 0;
}

static bool response_read(struct http_response *response)
{
	struct bounded_reader reader;
	struct field field;

	bounded_reader_init(&reader, response->text, response->bytes);
	while (field_read(&reader, &field)) {
		if (field.number == RESPONSE_PARTIAL_SUCCESS &&
		    (field.type != WIRE_BYTES || !partial_read(&field, response)))
			return false;
	}
	return !bounded_reader_failed(&reader) && bounded_reader_left(&reader) == 0;
}

static int otlp_create(void **data, const struct ship_config *config, struct error *err)
{
	(void)config;
	return profile_batch_create(data, &format_otlp, err);
}

static void otlp_send(struct http_client *client, const struct ship_config *config,
		      const struct ship_request *request, struct http_response *response)
{
	static const struct http_field fields[] = {{NULL, NULL}};

	(void)config;
	http_client_post(client,
			 &(struct http_post){
				 .path = OTLP_PATH,
				 .fields = fields,
				 .type = "application/x-protobuf",
				 .body = request->body,
				 .bytes = request->bytes,
				 .compressed = request->compressed,
			 },
			 response);
	if (response->result == HTTP_DONE && !response_read(response)) {
		response->rejected = 0;
		http_response_set(response, HTTP_RETRY,
				  "the reply of the destination is not from an OTLP receiver");
	}
}

const struct protocol protocol_otlp = {
	.name = "otlp",
	.promise = PROTOCOL_AT_LEAST_ONCE,
	.create = otlp_create,
	.destroy = profile_batch_destroy,
	.begin = profile_batch_begin,
	.slice = profile_batch_slice,
	.lost = profile_batch_lost,
	.rest = profile_batch_rest,
	.end = profile_batch_end,
	.send = otlp_send,
};
