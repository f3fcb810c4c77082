// SPDX-License-Identifier: GPL-2.0-only
/* dcpibursts - memory references of rewritten programs; docs/man/dcpibursts.1.scd is its manual */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/bursts/bursts_report.h"
#include "instrument/bursts/streams_report.h"
#include "lib/error.h"
#include "lib/options.h"

#define EXIT_NOTHING 1
#define EXIT_BAD 2
#define ROWS_DEFAULT 20

enum {
	KEY_ROWS = 'n',
	KEY_BY = 256,
	KEY_CSV,
	KEY_STREAMS,
	KEY_OVERLAP,
	KEY_COVER,
	KEY_HEAT,
	KEY_LENGTHS,
};

static const struct option_entry entries[] = {
	{KEY_BY, "by", "ROWS", "a row for each instruction (the default), procedure or reference"},
	{KEY_ROWS, "limit", "N", "at most N rows, 0: all; default: 20, of references all"},
	{KEY_STREAMS, "streams", NULL, "hot data streams: sequences of references that recur"},
	{KEY_COVER, "cover", "PERCENT", "as many of them as are so much of all; default: 90"},
	{KEY_HEAT, "heat", "N", "those that are N references at least, instead"},
	{KEY_LENGTHS, "lengths", "MIN-MAX", "of so many references each; default: 10-40"},
	{KEY_OVERLAP, "overlap", "FILE",
	 "how much of its streams are those of FILE, another's --streams --csv"},
	{KEY_CSV, "csv", NULL, "comma-separated values"},
};

struct settings {
	struct bursts_report_options report;
	bool limited;
	bool streams;
	bool of_streams; /* an option was given that is about them */
	struct data_streams_options which;
	const char *other;
};

static int fail(const struct error *err)
{
	fflush(stdout);
	fprintf(stderr, "dcpibursts: %s\n", err->message);
	return EXIT_BAD;
}

static int set_rows(struct settings *settings, const char *argument, struct error *err)
{
	static const char *const names[] = {"instruction", "procedure", "reference"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(argument, names[i]) == 0) {
			settings->report.rows = (enum bursts_rows)i;
			return 0;
		}
	}
	return error_set(err, EINVAL,
			 "there are no rows \"%s\": instruction, procedure or reference", argument);
}

static int set_cover(struct settings *settings, const char *argument, struct error *err)
{
	double percent;
	char *end;

	errno = 0;
	percent = strtod(argument, &end);
	if (errno != 0 || *argument < '0' || *argument > '9' || *end != '\0' || percent > 100)
		return error_set(err, EINVAL, "\"%s\" is no percentage", argument);
	settings->which.cover = percent / 100;
	return 0;
}

/* A number from 1 on, followed by @last. Return: behind that, or NULL. */
static const char *take_number(const char *text, char last, unsigned long most, unsigned long *ret)
{
	char *end;

	errno = 0;
	*ret = strtoul(text, &end, 10);
	if (errno != 0 || *text < '0' || *text > '9' || *end != last || *ret == 0 || *ret > most)
		return NULL;
	return end + (last != '\0');
}

static int set_heat(struct settings *settings, const char *argument, struct error *err)
{
	unsigned long heat;

	if (take_number(argument, '\0', ULONG_MAX, &heat) == NULL)
		return error_set(err, EINVAL, "\"%s\" is no number of references", argument);
	settings->which.heat = heat;
	return 0;
}

static int set_lengths(struct settings *settings, const char *argument, struct error *err)
{
	unsigned long shortest, longest;
	const char *rest = take_number(argument, '-', DATA_STREAMS_LENGTH_MAX, &shortest);

	if (rest == NULL || take_number(rest, '\0', DATA_STREAMS_LENGTH_MAX, &longest) == NULL ||
	    shortest > longest)
		return error_set(err, EINVAL, "\"%s\" are no lengths; try 10-40", argument);
	settings->which.shortest = (uint32_t)shortest;
	settings->which.longest = (uint32_t)longest;
	return 0;
}

static int set_option(struct settings *settings, int key, struct error *err)
{
	settings->of_streams |= key == KEY_COVER || key == KEY_HEAT || key == KEY_LENGTHS;
	switch (key) {
	case KEY_STREAMS:
		settings->streams = true;
		break;
	case KEY_OVERLAP:
		settings->other = optarg;
		break;
	case KEY_COVER:
		return set_cover(settings, optarg, err);
	case KEY_HEAT:
		return set_heat(settings, optarg, err);
	case KEY_LENGTHS:
		return set_lengths(settings, optarg, err);
	case KEY_BY:
		return set_rows(settings, optarg, err);
	case KEY_ROWS:
		settings->limited = true;
		return options_rows(optarg, &settings->report.limit, err);
	case KEY_CSV:
		settings->report.csv = true;
		break;
	}
	return 0;
}

static int print_overlap(const struct settings *settings, const struct data_streams *streams,
			 struct error *err)
{
	struct data_streams other;
	double overlap;
	int r = streams_report_read(&other, settings->other, err);

	if (r < 0)
		return r;
	r = data_streams_overlap(&overlap, streams, &other);
	data_streams_deinit(&other);
	if (r < 0)
		return error_set(err, ENOMEM, "no memory for streams");
	if (settings->report.csv)
		printf("overlap\n%.4f\n", 100 * overlap);
	else
		printf("%.1f%% of the references are in streams of both\n", 100 * overlap);
	return 1;
}

/* Return: as bursts_report_print(). */
static int report_streams(const struct settings *settings, const struct bursts_map *map,
			  const struct bursts_profile *profile, struct error *err)
{
	struct data_streams streams;
	int r;

	if (profile->count == 0)
		return 0;
	if (data_streams_find(&streams, map, profile, &settings->which) < 0)
		return error_set(err, ENOMEM, "no memory for streams");
	r = streams.count > 0;
	if (settings->other != NULL)
		r = print_overlap(settings, &streams, err);
	else if (r > 0)
		streams_report_print(stdout, map, &streams, settings->report.limit,
				     settings->report.csv);
	data_streams_deinit(&streams);
	return r;
}

static int report(struct settings *settings, const char *program, char *const *files, size_t count)
{
	struct bursts_profile profile = {0};
	struct bursts_map map = {0};
	struct error err;
	int r = bursts_map_read(&map, program, &err);

	for (size_t i = 0; r == 0 && i < count; i++)
		r = bursts_profile_add(&profile, &map, files[i], &err);
	if (!settings->limited && !settings->report.csv &&
	    settings->report.rows != BURSTS_REFERENCES)
		settings->report.limit = ROWS_DEFAULT;
	if (r == 0 && (settings->streams || settings->other != NULL))
		r = report_streams(settings, &map, &profile, &err);
	else if (r == 0)
		r = bursts_report_print(stdout, &map, &profile, &settings->report, &err);
	if (r > 0 && profile.shared > 0)
		fprintf(stderr, "dcpibursts: %llu threads had no room: theirs are missing\n",
			(unsigned long long)profile.shared);
	bursts_profile_deinit(&profile);
	bursts_map_deinit(&map);
	if (r < 0)
		return fail(&err);
	return r > 0 ? 0 : EXIT_NOTHING;
}

int main(int argc, char **argv)
{
	struct settings settings = {.which = DATA_STREAMS_DEFAULT};
	struct options options;
	struct error err;
	int key;

	options_init(&options, "dcpibursts", false);
	options_add(&options, entries, sizeof(entries) / sizeof(*entries));
	while ((key = options_next(&options, argc, argv, &err)) >= 0) {
		if (key == OPTIONS_HELP) {
			options_help(stdout, &options, "[OPTION]... REWRITTEN FILE...",
				     "Lists references to memory that a program recorded in bursts "
				     "which was rewritten by dcpix --mode=bursts.");
			return 0;
		}
		if (key == OPTIONS_VERSION) {
			options_version(stdout, &options);
			return 0;
		}
		if (set_option(&settings, key, &err) < 0)
			return fail(&err);
	}
	if (key != OPTIONS_END)
		return fail(&err);
	if (settings.of_streams && !settings.streams && settings.other == NULL) {
		error_set(&err, EINVAL, "--cover, --heat and --lengths are about --streams");
		return fail(&err);
	}
	if (argc - optind < 2) {
		error_set(&err, EINVAL,
			  "a rewritten program is needed, and the files that it recorded in");
		return fail(&err);
	}
	return report(&settings, argv[optind], argv + optind + 1, (size_t)(argc - optind - 1));
}
