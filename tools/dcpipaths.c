// SPDX-License-Identifier: GPL-2.0-only
/* dcpipaths - which paths a rewritten program went; docs/man/dcpipaths.1.scd is its manual */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/image_code.h"
#include "instrument/paths/paths_report.h"
#include "lib/error.h"
#include "lib/options.h"

#define EXIT_NOTHING 1
#define EXIT_BAD 2
#define PATHS_DEFAULT 10
#define PROCEDURES_DEFAULT 20
#define THRESHOLD_DEFAULT 0.01

enum {
	KEY_ROWS = 'n',
	KEY_BY = 256,
	KEY_THRESHOLD,
	KEY_DEBUG,
	KEY_CSV,
};

static const struct option_entry entries[] = {
	{KEY_BY, "by", "ROWS", "a row for each path (the default), procedure or way"},
	{KEY_ROWS, "limit", "N", "at most N rows, 0: all; default: 10 paths, 20 procedures"},
	{KEY_THRESHOLD, "threshold", "PERCENT", "what is hot; default: 1"},
	{KEY_DEBUG, "debug", "DIR", "separate debug files, for source lines"},
	{KEY_CSV, "csv", NULL, "comma-separated values"},
};

struct settings {
	struct paths_report_options report;
	const char *debug;
	bool limited;
};

static int fail(const struct error *err)
{
	fflush(stdout);
	fprintf(stderr, "dcpipaths: %s\n", err->message);
	return EXIT_BAD;
}

static int set_rows(struct settings *settings, const char *argument, struct error *err)
{
	static const char *const names[] = {"path", "procedure", "way"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(argument, names[i]) == 0) {
			settings->report.rows = (enum paths_rows)i;
			return 0;
		}
	}
	return error_set(err, EINVAL, "there are no rows \"%s\": path, procedure or way", argument);
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

static int set_threshold(struct settings *settings, const char *argument, struct error *err)
{
	char *end;
	double percent = strtod(argument, &end);

	if (*argument < '0' || *argument > '9' || *end != '\0' || !(percent <= 100))
		return error_set(err, EINVAL, "\"%s\" is no threshold: 0 to 100", argument);
	settings->report.threshold = percent / 100;
	return 0;
}

static int set_option(struct settings *settings, int key, struct error *err)
{
	switch (key) {
	case KEY_BY:
		return set_rows(settings, optarg, err);
	case KEY_ROWS:
		return set_limit(settings, optarg, err);
	case KEY_THRESHOLD:
		return set_threshold(settings, optarg, err);
	case KEY_DEBUG:
		settings->debug = optarg;
		break;
	case KEY_CSV:
		settings->report.csv = true;
		break;
	}
	return 0;
}

/* Of the program as it was, if that is still there: else there are no source lines. */
static struct image_code *open_code(const struct settings *settings, const struct paths_map *map)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = map->path};
	struct debug_file_options debug = {.directory = settings->debug};
	struct image_code *code;
	struct error err;

	if (image_code_open(&code, &image, &debug, &err) < 0)
		return NULL;
	if (strcmp(image_code_build_id(code), map->build_id) == 0)
		return code;
	image_code_close(code);
	return NULL;
}

static int report(struct settings *settings, const char *program, char *const *files, size_t count)
{
	struct paths_profile profile = {0};
	struct paths_map map = {0};
	struct error err;
	int r = paths_map_read(&map, program, &err);

	for (size_t i = 0; r == 0 && i < count; i++)
		r = paths_profile_add(&profile, &map, files[i], &err);
	if (r == 0 && paths_profile_end(&profile, &map) < 0)
		r = error_set(&err, ENOMEM, "no memory for paths");
	if (r == 0 && !settings->limited && !settings->report.csv)
		settings->report.limit =
			settings->report.rows == PATHS_PATHS ? PATHS_DEFAULT : PROCEDURES_DEFAULT;
	if (r == 0 && !settings->report.csv)
		settings->report.code = open_code(settings, &map);
	if (r == 0)
		r = paths_report_print(stdout, &map, &profile, &settings->report, &err);
	if (r > 0 && profile.shared > 0)
		fprintf(stderr,
			"dcpipaths: %llu threads had to share counters: counts may be too low\n",
			(unsigned long long)profile.shared);
	image_code_close(settings->report.code);
	paths_profile_deinit(&profile);
	paths_map_deinit(&map);
	if (r < 0)
		return fail(&err);
	return r > 0 ? 0 : EXIT_NOTHING;
}

int main(int argc, char **argv)
{
	struct settings settings = {.report = {.threshold = THRESHOLD_DEFAULT}};
	struct options options;
	struct error err;
	int key;

	options_init(&options, "dcpipaths", false);
	options_add(&options, entries, sizeof(entries) / sizeof(*entries));
	while ((key = options_next(&options, argc, argv, &err)) >= 0) {
		if (key == OPTIONS_HELP) {
			options_help(stdout, &options, "[OPTION]... REWRITTEN FILE...",
				     "Tells which paths a program went that was rewritten by "
				     "dcpix --mode=paths.");
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
	if (argc - optind < (settings.report.rows == PATHS_WAYS ? 1 : 2)) {
		error_set(&err, EINVAL,
			  "a rewritten program is needed, and the files that it counted in");
		return fail(&err);
	}
	return report(&settings, argv[optind], argv + optind + 1, (size_t)(argc - optind - 1));
}
