// SPDX-License-Identifier: GPL-2.0-only
/* dcpibursts - memory references of rewritten programs; docs/man/dcpibursts.1.scd is its manual */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/bursts/bursts_report.h"
#include "lib/error.h"
#include "lib/options.h"

#define EXIT_NOTHING 1
#define EXIT_BAD 2
#define ROWS_DEFAULT 20

enum {
	KEY_ROWS = 'n',
	KEY_BY = 256,
	KEY_CSV,
};

static const struct option_entry entries[] = {
	{KEY_BY, "by", "ROWS", "a row for each instruction (the default), procedure or reference"},
	{KEY_ROWS, "limit", "N", "at most N rows, 0: all; default: 20, of references all"},
	{KEY_CSV, "csv", NULL, "comma-separated values"},
};

struct settings {
	struct bursts_report_options report;
	bool limited;
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

static int set_limit(struct settings *settings, const char *argument, struct error *err)
{
	char *end;

	errno = 0;
	settings->report.limit = strtoul(argument, &end, 10);
	settings->limited = true;
	if (errno != 0 || *argument < '0' || *argument > '9' || *end != '\0')
		return error_set(err, EINVAL, "\"%s\" is no number of rows", argument);
	return 0;
}

static int set_option(struct settings *settings, int key, struct error *err)
{
	switch (key) {
	case KEY_BY:
		return set_rows(settings, optarg, err);
	case KEY_ROWS:
		return set_limit(settings, optarg, err);
	case KEY_CSV:
		settings->report.csv = true;
		break;
	}
	return 0;
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
	if (r == 0)
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
	struct settings settings = {0};
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
	if (argc - optind < 2) {
		error_set(&err, EINVAL,
			  "a rewritten program is needed, and the files that it recorded in");
		return fail(&err);
	}
	return report(&settings, argv[optind], argv + optind + 1, (size_t)(argc - optind - 1));
}
