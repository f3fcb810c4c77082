// SPDX-License-Identifier: GPL-2.0-only
#include "tools/base/json_stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "tools/base/text.h"

/* Doubles represent integers below this exactly. Most numbers are integers, and printf is slow. */
#define WHOLE_MAX 9007199254740992.0
/* Other numbers have this many digits, and no exponent in the range below. */
#define DIGITS 9
#define DIGITS_LIMIT 1000000000U
#define FRACTION_MIN 1e-4
#define FRACTION_MAX 1e8

static void flush(struct json_stream *json)
{
	fwrite_unlocked(json->waiting, 1, json->used, json->file);
	json->used = 0;
}

/* @bytes: at most the size of the buffer */
static char *json_stream_reserve(struct json_stream *json, size_t bytes)
{
	if (json->used + bytes > sizeof(json->waiting))
		flush(json);
	return json->waiting + json->used;
}

static void json_stream_put(struct json_stream *json, char c)
{
	*json_stream_reserve(json, 1) = c;
	json->used++;
}

static void put_bytes(struct json_stream *json, const char *bytes, size_t count)
{
	memcpy(json_stream_reserve(json, count), bytes, count);
	json->used += count;
}

static void json_stream_begin(struct json_stream *json, const char *key)
{
	size_t length = key != NULL ? strlen(key) : 0;
	char *at = json_stream_reserve(json, length + 4);

	json->used += length + (size_t)json->comma + (key != NULL ? 3 : 0);
	if (json->comma)
		*at++ = ',';
	json->comma = true;
	if (key == NULL)
		return;
	*at = '"';
	memcpy(at + 1, key, length);
	memcpy(at + 1 + length, "\":", 2);
}

void json_stream_open(struct json_stream *json, const char *key, char bracket)
{
	json_stream_begin(json, key);
	json_stream_put(json, bracket);
	json->comma = false;
}

void json_stream_close(struct json_stream *json, char bracket)
{
	json_stream_put(json, bracket);
	json->comma = true;
}

void json_stream_line(struct json_stream *json)
{
	json_stream_put(json, '\n');
	json->comma = false;
	flush(json);
}

void json_stream_text(struct json_stream *json, const char *key, const char *text)
{
	_cleanup_free_ char *clean = text_clean(text);

	json_stream_begin(json, key);
	json_stream_put(json, '"');
	/* The clean text is UTF-8 without control characters. */
	for (const char *p = clean != NULL ? clean : ""; *p != '\0'; p++) {
		if (*p == '"' || *p == '\\')
			json_stream_put(json, '\\');
		json_stream_put(json, *p);
	}
	json_stream_put(json, '"');
}

void json_stream_word(struct json_stream *json, const char *key, const char *word)
{
	json_stream_begin(json, key);
	json_stream_put(json, '"');
	put_bytes(json, word, strlen(word));
	json_stream_put(json, '"');
}

static void write_count(struct json_stream *json, uint64_t count)
{
	char digits[20];
	size_t start = sizeof(digits);

	/* Most counts fit 32 bits, which are divided faster. */
	for (; count > UINT32_MAX; count /= 10)
		digits[--start] = (char)('0' + count % 10);
	for (uint32_t rest = (uint32_t)count; rest > 0 || start == sizeof(digits); rest /= 10)
		digits[--start] = (char)('0' + rest % 10);
	put_bytes(json, digits + start, sizeof(digits) - start);
}

void json_stream_count(struct json_stream *json, const char *key, uint64_t count)
{
	json_stream_begin(json, key);
	write_count(json, count);
}

/* Format as "%.9g" does, for a fraction that needs no exponent. Return: length of the text. */
static uint32_t format_fraction(char *ret, double number)
{
	char text[DIGITS + 8]; /* plus "0.0000" or "-" and "." */
	double scaled = number;
	unsigned int places = 0, end, start;
	uint32_t digits;

	/* The rounding errors of these products are below the digits printed. */
	while (scaled * 10 < DIGITS_LIMIT) {
		scaled *= 10;
		places++;
	}
	digits = (uint32_t)(scaled + 0.5);
	while (places > 0 && digits % 10 == 0) {
		digits /= 10;
		places--;
	}
	start = end = sizeof(text);
	for (unsigned int i = 0; digits > 0 || i <= places; i++) {
		if (i == places && places > 0)
			text[--start] = '.';
		text[--start] = (char)('0' + digits % 10);
		digits /= 10;
	}
	memcpy(ret, text + start, end - start);
	return end - start;
}

static void write_fraction(struct json_stream *json, double number)
{
	uint64_t bits;
	size_t at;

	memcpy(&bits, &number, sizeof(bits));
	at = (bits * UINT64_C(0x9e3779b97f4a7c15)) >> 60;
	_Static_assert(JSON_STREAM_FRACTIONS == 16, "four bits choose one");
	if (json->fractions[at].number != number) {
		json->fractions[at].length = format_fraction(json->fractions[at].text, number);
		json->fractions[at].number = number;
	}
	put_bytes(json, json->fractions[at].text, json->fractions[at].length);
}

/* Print very small and very large numbers. */
static void write_exponent(struct json_stream *json, double number)
{
	char text[32];

	put_bytes(json, text, (size_t)snprintf(text, sizeof(text), "%.9g", number));
}

/* Return a number with the digits of the stream. */
static double rounded(const struct json_stream *json, double number)
{
	char text[32];

	if (json->digits == 0 || number == 0 || !isfinite(number))
		return number;
	snprintf(text, sizeof(text), "%.*e", (int)json->digits - 1, number);
	return strtod(text, NULL);
}

void json_stream_number(struct json_stream *json, const char *key, double number)
{
	number = rounded(json, number);
	if (!isfinite(number)) {
		json_stream_null(json, key);
		return;
	}
	json_stream_begin(json, key);
	if (number >= 0 && number <= WHOLE_MAX && number == floor(number))
		write_count(json, (uint64_t)number);
	else if (number >= FRACTION_MIN && number < FRACTION_MAX)
		write_fraction(json, number);
	else
		write_exponent(json, number);
}

void json_stream_null(struct json_stream *json, const char *key)
{
	json_stream_begin(json, key);
	put_bytes(json, "null", 4);
}
