// SPDX-License-Identifier: GPL-2.0-only
#include "tools/json_stream.h"

#include <math.h>
#include <string.h>

#include "lib/cleanup.h"
#include "tools/text.h"

/* Doubles hold these exactly, and most numbers are such: printf is slow. */
#define WHOLE_MAX 9007199254740992.0
/* Others have so many digits, and no exponent between these. */
#define DIGITS 9
#define DIGITS_LIMIT 1000000000U
#define FRACTION_MIN 1e-4
#define FRACTION_MAX 1e8

static void begin(struct json_stream *json, const char *key)
{
	if (json->comma)
		putc_unlocked(',', json->file);
	json->comma = true;
	if (key == NULL)
		return;
	putc_unlocked('"', json->file);
	fwrite_unlocked(key, 1, strlen(key), json->file);
	fwrite_unlocked("\":", 1, 2, json->file);
}

void json_stream_open(struct json_stream *json, const char *key, char bracket)
{
	begin(json, key);
	putc_unlocked(bracket, json->file);
	json->comma = false;
}

void json_stream_close(struct json_stream *json, char bracket)
{
	putc_unlocked(bracket, json->file);
	json->comma = true;
}

void json_stream_line(struct json_stream *json)
{
	putc_unlocked('\n', json->file);
	json->comma = false;
}

void json_stream_text(struct json_stream *json, const char *key, const char *text)
{
	_cleanup_free_ char *clean = text_clean(text);

	begin(json, key);
	putc_unlocked('"', json->file);
	/* No control characters are left; what is, is UTF-8. */
	for (const char *p = clean != NULL ? clean : ""; *p != '\0'; p++) {
		if (*p == '"' || *p == '\\')
			putc_unlocked('\\', json->file);
		putc_unlocked(*p, json->file);
	}
	putc_unlocked('"', json->file);
}

static void write_count(struct json_stream *json, uint64_t count)
{
	char digits[20];
	size_t start = sizeof(digits);

	do {
		digits[--start] = (char)('0' + count % 10);
		count /= 10;
	} while (count > 0);
	fwrite_unlocked(digits + start, 1, sizeof(digits) - start, json->file);
}

void json_stream_count(struct json_stream *json, const char *key, uint64_t count)
{
	begin(json, key);
	write_count(json, count);
}

/* As "%.9g" does it, for a fraction that needs no exponent. */
static void write_fraction(struct json_stream *json, double number)
{
	char text[DIGITS + 8]; /* 0.0000 or -. */
	double scaled = number;
	unsigned int places = 0, end, start;
	uint32_t digits;

	/* Products of ten are off by less than digits show. */
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
	fwrite_unlocked(text + start, 1, end - start, json->file);
}

void json_stream_number(struct json_stream *json, const char *key, double number)
{
	if (!isfinite(number)) {
		json_stream_null(json, key);
		return;
	}
	begin(json, key);
	if (number >= 0 && number <= WHOLE_MAX && number == floor(number))
		write_count(json, (uint64_t)number);
	else if (number >= FRACTION_MIN && number < FRACTION_MAX)
		write_fraction(json, number);
	else
		fprintf(json->file, "%.9g", number);
}

void json_stream_null(struct json_stream *json, const char *key)
{
	begin(json, key);
	fwrite_unlocked("null", 1, 4, json->file);
}
