// SPDX-License-Identifier: GPL-2.0-only
/* dcpipaths - executed paths of an instrumented program; manual: docs/man/dcpipaths.1.scd */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/image_code.h"
#include "instrument/flow/flow_map.h"
#include "instrument/paths/paths_recording.h"
#include "instrument/paths/paths_report.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "lib/options.h"
#include "tools/report/cli.h"
#include "tools/report/recording_source.h"
#include "tools/report/sandboxed.h"

#define FILES_MAX 65536
#define PATHS_DEFAULT 10
#define PROCEDURES_DEFAULT 20
#define THRESHOLD_DEFAULT 0.01

enum {
	KEY_ROWS = 'n',
	KEY_BY = 1001,
	KEY_THRESHOLD,
	KEY_DEBUG,
	KEY_CSV,
};

static const struct option_entry entries[] = {
	{KEY_BY, "by", "ROWS", "list paths (the default), procedures or edges of path graphs"},
	{KEY_ROWS, "limit", "N", "print at most N rows; 0: all; default: 10 paths, 20 procedures"},
	{KEY_THRESHOLD, "threshold", "PERCENT",
	 "set the share from which a path is hot; default: 1"},
	{KEY_DEBUG, "debug", "DIR", "search DIR for separate debug files, for source lines"},
	{KEY_CSV, "csv", NULL, "print comma-separated values"},
};

struct settings {
	struct cli cli;
	struct paths_report_options report;
	const char *debug;
	bool limited;
};

static int set_rows(struct settings *settings, const char *argument, struct error *err)
{
	static const char *const names[] = {"path", "procedure", "edge"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(argument, names[i]) == 0) {
			settings->report.rows = (enum paths_rows)i;
			return 0;
		}
	}
	return near_names_unknown(err, "kind of row", argument, names,
				  sizeof(names) / sizeof(*names));
}

static int set_threshold(struct settings *settings, const char *argument, struct error *err)
{
	char *end;
	double percent = strtod(argument, &end);

	if (*argument < '0' || *argument > '9' || *end != '\0' || !(percent <= 100))
		return error_set(err, EINVAL, "'%s' is not a valid threshold (0 to 100)", argument);
	settings->report.threshold = percent / 100;
	return 0;
}

static int dcpipaths_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct settings *settings = context;

	switch (key) {
	case KEY_BY:
		return set_rows(settings, argument, err);
	case KEY_ROWS:
		settings->limited = true;
		return options_rows(argument, &settings->report.limit, err);
	case KEY_THRESHOLD:
		return set_threshold(settings, argument, err);
	case KEY_DEBUG:
		settings->debug = argument;
		break;
	case KEY_CSV:
		settings->report.csv = true;
		break;
	}
	return 0;
}

static const struct cli_tool tool = {
	.name = "dcpipaths",
	.synopsis = "[OPTION]... [REWRITTEN FILE...]",
	.summary = "List the paths that a program executed and counted (dcpix --mode paths). The "
		   "counts are read from files, or from the database if no file is given.",
	.accepts = CLI_EPOCHS | CLI_IMAGES,
	.operands_max = FILES_MAX,
	.options = entries,
	.option_count = sizeof(entries) / sizeof(*entries),
	.set = dcpipaths_set_option,
};

/* Output as text has a default number of rows, and source lines. */
static void dcpipaths_prepare(struct settings *settings, const char *path, const char *build_id)
{
	if (settings->report.csv)
		return;
	if (!settings->limited)
		settings->report.limit =
			settings->report.rows == PATHS_PATHS ? PATHS_DEFAULT : PROCEDURES_DEFAULT;
	settings->report.code = image_code_open_same(path, build_id, settings->debug);
}

/* Return: 1; 0: nothing was counted; or an error. */
static int dcpipaths_finish(struct settings *settings, int r, uint64_t shared)
{
	if (r > 0 && shared > 0)
		fprintf(stderr, "dcpipaths: %llu threads shared counters: counts may be too low\n",
			(unsigned long long)shared);
	image_code_close(settings->report.code);
	return r;
}

/* Only the edges of a program that counts paths in contexts are listed. */
static int read_map(const struct settings *settings, struct paths_map *ret, struct error *err)
{
	const char *program = settings->cli.operands[0];
	struct call_map calls = {0};
	int r = paths_map_read(ret, program, PATHS_MAP_SECTION, err);

	if (r != -ENODATA || call_map_read(&calls, program, NULL) < 0)
		return r;
	if (settings->report.rows == PATHS_EDGES)
		r = flow_map_decode(ret, &calls, err);
	else if (calls.flow_at != 0)
		r = error_set(err, EINVAL, "'%s' records paths in contexts: use dcpicct --paths",
			      program);
	call_map_deinit(&calls);
	return r;
}

static int report_files(struct settings *settings, struct error *err)
{
	const struct cli *cli = &settings->cli;
	struct paths_profile profile = {0};
	struct paths_map map = {0};
	int r;

	if (cli->operand_count < (settings->report.rows == PATHS_EDGES ? 1 : 2))
		return error_set(err, EINVAL,
				 "a rewritten program and the files that it recorded are required");
	r = read_map(settings, &map, err);
	for (size_t i = 1; r == 0 && i < cli->operand_count; i++)
		r = paths_profile_add(&profile, &map, cli->operands[i], err);
	if (r == 0 && paths_profile_end(&profile, &map) < 0)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0) {
		dcpipaths_prepare(settings, map.path, map.build_id);
		r = paths_report_print(stdout, &map, &profile, &settings->report, err);
	}
	r = dcpipaths_finish(settings, r, profile.shared);
	paths_profile_deinit(&profile);
	paths_map_deinit(&map);
	return r;
}

/* Recordings while they are read. */
struct session {
	struct recording_source source;
	struct paths_recorded recorded;
};

static int take_recording(void *context, const struct profile_recording *recording)
{
	struct session *session = context;

	return paths_recorded_add(&session->recorded, recording, session->source.path);
}

static int report_database(struct settings *settings, struct error *err)
{
	struct session session = {.source = {.reader = NULL}};
	int r;

	if (settings->report.rows == PATHS_EDGES)
		return error_set(err, EINVAL, "--by edge needs a rewritten program");
	r = recording_source_open(&session.source, &settings->cli, PROFILE_RECORDING_PATHS, err);
	if (r == 0)
		r = recording_source_visit(&session.source, take_recording, &session, err);
	if (r == 0 && paths_recorded_end(&session.recorded) < 0)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0) {
		dcpipaths_prepare(settings, session.source.path, session.source.build_id);
		r = paths_report_print_recorded(stdout, &session.recorded, &settings->report, err);
	} else if (r == -ENOENT && session.source.reader != NULL) {
		cli_nothing(&settings->cli, "%s", err->message);
		r = 0;
	}
	r = dcpipaths_finish(settings, r, session.recorded.profile.shared);
	paths_recorded_deinit(&session.recorded);
	recording_source_close(&session.source);
	return r;
}

int main(int argc, char **argv)
{
	struct settings settings = {.report = {.threshold = THRESHOLD_DEFAULT}};
	int status = cli_parse(&settings.cli, &tool, argc, argv, &settings);
	struct error err;
	int r;

	if (status == CLI_RUN)
		status = sandboxed_start(&settings.cli, NULL);
	if (status == CLI_RUN) {
		r = settings.cli.operand_count > 0 ? report_files(&settings, &err)
						   : report_database(&settings, &err);
		if (r >= 0 && fflush(stdout) != 0)
			r = error_set_errno(&err, ERROR_WRITE_OUTPUT);
		status = r > 0 ? CLI_OK : r < 0 ? cli_fail(&settings.cli, &err) : CLI_NOTHING;
	}
	cli_deinit(&settings.cli);
	return status;
}
