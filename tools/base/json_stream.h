/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streaming JSON writer, for output that is too large to be built in memory first (json-c only
 * supports trees). Keys are constants of the program; text from outside is made valid UTF-8.
 * Numbers that JSON cannot represent (NaN, infinities) become null.
 */
#ifndef DCPI_JSON_STREAM_H
#define DCPI_JSON_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_STREAM_BYTES 4096
#define JSON_STREAM_FRACTIONS 16

/**
 * struct json_stream - all zero except @file
 * @file:      receives complete lines
 * @digits:    significant digits of numbers, 1 .. 9; 0: nine
 * @comma:     the next value needs a comma before it
 * @used:      bytes buffered in @waiting
 * @fractions: cache of formatted numbers, by hash: the same estimate occurs for many instructions
 */
struct json_stream {
	FILE *file;
	unsigned int digits;
	bool comma;
	size_t used;
	char waiting[JSON_STREAM_BYTES];
	struct {
		double number;
		uint32_t length;
		char text[20];
	} fractions[JSON_STREAM_FRACTIONS];
};

/** json_stream_open() - begin an object ('{') or array ('['); @key: NULL in arrays */
void json_stream_open(struct json_stream *json, const char *key, char bracket);

/** json_stream_close() - end an object or array: '}' or ']' */
void json_stream_close(struct json_stream *json, char bracket);

/** json_stream_line() - end the line after a complete value, and write it to the file */
void json_stream_line(struct json_stream *json);

void json_stream_text(struct json_stream *json, const char *key, const char *text);
/**
 * json_stream_word() - write a constant of the program, in which no character needs to be escaped
 */
void json_stream_word(struct json_stream *json, const char *key, const char *word);
void json_stream_count(struct json_stream *json, const char *key, uint64_t count);
/** json_stream_number() - write a number with nine significant digits, or @digits */
void json_stream_number(struct json_stream *json, const char *key, double number);
void json_stream_null(struct json_stream *json, const char *key);

#endif
