/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON written as it comes, for output that is too long to be built in memory first
 * (json-c has trees only). Keys are ours; text from outside is made valid UTF-8.
 * Numbers that JSON has none for (NaN, infinities) are null.
 */
#ifndef DCPI_JSON_STREAM_H
#define DCPI_JSON_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_STREAM_BYTES 4096
#define JSON_STREAM_FRACTIONS 16

/**
 * struct json_stream - all zero but @file
 * @file:      where whole lines go to
 * @comma:     a value came before
 * @used:      bytes that wait in @waiting
 * @fractions: written last, by a hash: one estimate is that of many instructions
 */
struct json_stream {
	FILE *file;
	bool comma;
	size_t used;
	char waiting[JSON_STREAM_BYTES];
	struct {
		double number;
		uint32_t length;
		char text[20];
	} fractions[JSON_STREAM_FRACTIONS];
};

/** json_stream_open() - begin an object ('{') or array ('['); @key: NULL in arrays. */
void json_stream_open(struct json_stream *json, const char *key, char bracket);

/** json_stream_close() - end it: '}' or ']'. */
void json_stream_close(struct json_stream *json, char bracket);

/** json_stream_line() - end the line, behind a whole value, and pass it on. */
void json_stream_line(struct json_stream *json);

void json_stream_text(struct json_stream *json, const char *key, const char *text);
/** json_stream_word() - one of our own words, that nothing in it needs to be escaped. */
void json_stream_word(struct json_stream *json, const char *key, const char *word);
void json_stream_count(struct json_stream *json, const char *key, uint64_t count);
/** json_stream_number() - with nine significant digits. */
void json_stream_number(struct json_stream *json, const char *key, double number);
void json_stream_null(struct json_stream *json, const char *key);

#endif
