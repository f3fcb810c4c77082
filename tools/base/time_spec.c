// SPDX-License-Identifier: GPL-2.0-only
#include "tools/base/time_spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/error.h"

#define SECOND_NS 1000000000LL

/* Parse at most ten digits. Return: the end, or NULL. */
static const char *parse_digits(const char *text, int64_t *value)
{
	int digits = 0;

	for (*value = 0; isdigit((unsigned char)*text); text++) {
		if (++digits > 10)
			return NULL;
		*value = *value * 10 + (*text - '0');
	}
	return digits > 0 ? text : NULL;
}

static int64_t unit_seconds(const char *unit)
{
	static const struct {
		char letter;
		int seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (unit[0] == units[i].letter && unit[1] == '\0')
			return units[i].seconds;
	}
	return 0;
}

static bool parse_relative(const char *text, int64_t now_ns, int64_t *ret)
{
	int64_t count, seconds;
	const char *unit = parse_digits(text, &count);

	if (unit == NULL)
		return false;
	seconds = unit_seconds(unit);
	if (seconds == 0 || count > now_ns / SECOND_NS / seconds)
		return false;
	*ret = now_ns - count * seconds * SECOND_NS;
	return true;
}

/*
 * Parse "Z", "+hh:mm", "+hhmm" or "+hh" up to the end of the text. Return: true if it is one of
 * these.
 */
static bool parse_zone(const char *text, int64_t *seconds)
{
	int hours, minutes = 0, end = 0;

	*seconds = 0;
	if (strcmp(text, "Z") == 0)
		return true;
	if (*text != '+' && *text != '-')
		return false;
	if (sscanf(text + 1, "%2d%n:%2d%n", &hours, &end, &minutes, &end) < 1 ||
	    text[1 + end] != '\0') {
		minutes = end = 0;
		if (sscanf(text + 1, "%2d%2d%n", &hours, &minutes, &end) != 2 ||
		    text[1 + end] != '\0')
			return false;
	}
	if (hours < 0 || hours > 14 || minutes < 0 || minutes > 59)
		return false;
	*seconds = (hours * 60LL + minutes) * (*text == '-' ? -60 : 60);
	return true;
}

/* mktime() converts 30 February to 2 March; such dates are rejected here. */
static bool same_day(const struct tm *a, const struct tm *b)
{
	return a->tm_year == b->tm_year && a->tm_mon == b->tm_mon && a->tm_mday == b->tm_mday;
}

static bool parse_calendar(const char *text, int64_t *ret)
{
	static const char *const formats[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S",
					      "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d"};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct tm parts = {.tm_isdst = -1}, given;
		const char *rest = strptime(text, formats[i], &parts);
		int64_t zone = 0;
		time_t seconds;

		if (rest == NULL || (*rest != '\0' && !parse_zone(rest, &zone)))
			continue;
		given = parts;
		seconds = *rest == '\0' ? mktime(&parts) : timegm(&parts);
		if (!same_day(&given, &parts) || seconds - zone <= 0 ||
		    seconds - zone > INT64_MAX / SECOND_NS)
			return false;
		*ret = (seconds - zone) * SECOND_NS;
		return true;
	}
	return false;
}

static bool parse_unix(const char *text, int64_t *ret)
{
	int64_t seconds;
	const char *end = parse_digits(text, &seconds);

	if (end == NULL || *end != '\0' || seconds == 0 || seconds > INT64_MAX / SECOND_NS)
		return false;
	*ret = seconds * SECOND_NS;
	return true;
}

int time_spec_parse(const char *text, int64_t now_ns, int64_t *ret, struct error *err)
{
	if (strcmp(text, "now") == 0) {
		*ret = now_ns;
		return 0;
	}
	if (*text == '@' ? parse_unix(text + 1, ret)
			 : parse_relative(text, now_ns, ret) || parse_calendar(text, ret))
		return 0;
	return error_set(err, EINVAL,
			 "'%s' is not a valid time: use 2026-11-20, '2026-11-20 14:30', "
			 "@1700000000, or 10m, 2h, 3d before now",
			 text);
}

void time_spec_local(char text[TIME_SPEC_BYTES], int64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / SECOND_NS);
	struct tm parts;

	if (localtime_r(&seconds, &parts) == NULL ||
	    strftime(text, TIME_SPEC_BYTES, "%Y-%m-%d %H:%M:%S", &parts) == 0)
		text[0] = '\0';
}

void time_spec_utc(char text[TIME_SPEC_BYTES], int64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / SECOND_NS);
	struct tm parts;

	if (gmtime_r(&seconds, &parts) == NULL ||
	    strftime(text, TIME_SPEC_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
		text[0] = '\0';
}
