// SPDX-License-Identifier: GPL-2.0-only
/* dcpibursts - memory references of instrumented programs; manual: docs/man/dcpibursts.1.scd */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/bursts/bursts_recording.h"
#include "instrument/bursts/bursts_report.h"
#include "instrument/bursts/streams_report.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "lib/options.h"
#include "tools/report/cli.h"
#include "tools/report/recording_source.h"
#include "tools/report/sandboxed.h"

#define FILES_MAX 65536
#define ROWS_DEFAULT 20

enum {
	KEY_ROWS = 'n',
	KEY_BY = 1001,
	KEY_CSV,
	KEY_STREAMS,
	KEY_OVERLAP,
	KEY_COVER,
	KEY_HEAT,
	KEY_LENGTHS,
};

static const struct option_entry entries[] = {
	{KEY_BY, "by", "ROWS", "list instructions (the default), procedures or references"},
	{KEY_ROWS, "limit", "N", "print at most N rows; 0: all; default: 20, all references"},
	{KEY_STREAMS, "streams", NULL, "list hot data streams: recurring sequences of references"},
	{KEY_COVER, "cover", "PERCENT",
	 "list the hottest streams that cover this share; default: 90"},
	{KEY_HEAT, "heat", "N", "list streams with at least N references instead"},
	{KEY_LENGTHS, "lengths", "MIN-MAX", "limit the references in a stream; default: 10-40"},
	{KEY_OVERLAP, "overlap", "FILE",
	 "compare with the streams in FILE, the output of --streams --csv"},
	{KEY_CSV, "csv", NULL, "print comma-separated values"},
};

struct settings {
	struct cli cli;
	struct bursts_report_options report;
	bool limited;
	bool streams;
	bool of_streams; /* an option about data streams was given */
	struct data_streams_options which;
	const char *other;
};

static int set_rows(struct settings *settings, const char *argument, struct error *err)
{
	static const char *const names[] = {"instruction", "procedure", "reference"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(argument, names[i]) == 0) {
			settings->report.rows = (enum bursts_rows)i;
			return 0;
		}
	}
	return near_names_unknown(err, "kind of row", argument, names,
				  sizeof(names) / sizeof(*names));
}

static int set_cover(struct settings *settings, const char *argument, struct error *err)
{
	double percent;
	char *end;

	errno = 0;
	percent = strtod(argument, &end);
	if (errno != 0 || *argument < '0' || *argument > '9' || *end != '\0' || percent > 100)
		return error_set(err, EINVAL, "'%s' is not a valid percentage", argument);
	settings->which.cover = percent / 100;
	return 0;
}

/* Parse a number from 1 to @most, followed by @last. Return: the text after @last, or NULL. */
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
		return error_set(err, EINVAL, "'%s' is not a valid number of references", argument);
	settings->which.heat = heat;
	return 0;
}

static int set_lengths(struct settings *settings, const char *argument, struct error *err)
{
	unsigned long shortest, longest;
	const char *rest = take_number(argument, '-', DATA_STREAMS_LENGTH_MAX, &shortest);

	if (rest == NULL || take_number(rest, '\0', DATA_STREAMS_LENGTH_MAX, &longest) == NULL ||
	    shortest > longest)
		return error_set(err, EINVAL, "'%s' is not a valid range of lengths, such as 10-40",
				 argument);
	settings->which.shortest = (uint32_t)shortest;
	settings->which.longest = (uint32_t)longest;
	return 0;
}

static int dcpibursts_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct settings *settings = context;

	settings->of_streams |= key == KEY_COVER || key == KEY_HEAT || key == KEY_LENGTHS;
	switch (key) {
	case KEY_STREAMS:
		settings->streams = true;
		break;
	case KEY_OVERLAP:
		settings->other = argument;
		break;
	case KEY_COVER:
		return set_cover(settings, argument, err);
	case KEY_HEAT:
		return set_heat(settings, argument, err);
	case KEY_LENGTHS:
		return set_lengths(settings, argument, err);
	case KEY_BY:
		return set_rows(settings, argument, err);
	case KEY_ROWS:
		settings->limited = true;
		return options_rows(argument, &settings->report.limit, err);
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
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
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
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = streams.count > 0;
	if (settings->other != NULL)
		r = print_overlap(settings, &streams, err);
	else if (r > 0)
		streams_report_print(stdout, map, &streams, settings->report.limit,
				     settings->report.csv);
	data_streams_deinit(&streams);
	return r;
}

static const struct cli_tool tool = {
	.name = "dcpibursts",
	.synopsis = "[OPTION]... [REWRITTEN FILE...]",
	.summary = "List the references to memory that a program recorded in bursts (dcpix --mode "
		   "bursts). The recording is read from files, or from the database if no file is "
		   "given.",
	.accepts = CLI_EPOCHS | CLI_IMAGES,
	.operands_max = FILES_MAX,
	.options = entries,
	.option_count = sizeof(entries) / sizeof(*entries),
	.set = dcpibursts_set_option,
};

/* Return: 1; 0: nothing was recorded; or an error. */
static int report(const struct settings *settings, const struct bursts_map *map,
		  const struct bursts_profile *profile, struct error *err)
{
	int r;

	if (settings->streams || settings->other != NULL)
		r = report_streams(settings, map, profile, err);
	else
		r = bursts_report_print(stdout, map, profile, &settings->report, err);
	if (r == 0)
		cli_nothing(&settings->cli, "%s",
			    profile->count > 0 ? "no stream exceeds the threshold"
					       : "nothing was recorded: no burst started");
	if (r > 0 && profile->shared > 0)
		fprintf(stderr,
			"dcpibursts: references of %llu threads are missing: no memory for their "
			"recording\n",
			(unsigned long long)profile->shared);
	return r;
}

static int report_files(const struct settings *settings, struct error *err)
{
	const struct cli *cli = &settings->cli;
	struct bursts_profile profile = {0};
	struct bursts_map map = {0};
	int r;

	if (cli->operand_count < 2)
		return error_set(err, EINVAL,
				 "a rewritten program and the files that it recorded are required");
	r = bursts_map_read(&map, cli->operands[0], err);
	for (size_t i = 1; r == 0 && i < cli->operand_count; i++)
		r = bursts_profile_add(&profile, &map, cli->operands[i], err);
	if (r == 0)
		r = report(settings, &map, &profile, err);
	bursts_profile_deinit(&profile);
	bursts_map_deinit(&map);
	return r;
}

/* Recordings while they are read. */
struct session {
	struct recording_source source;
	struct bursts_recorded recorded;
};

static int take_recording(void *context, const struct profile_recording *recording)
{
	struct session *session = context;

	return bursts_recorded_add(&session->recorded, recording, session->source.path);
}

static int report_database(struct settings *settings, struct error *err)
{
	struct session session = {.source = {.reader = NULL}};
	int r = recording_source_open(&session.source, &settings->cli, PROFILE_RECORDING_BURSTS,
				      err);

	if (r == 0)
		r = recording_source_visit(&session.source, take_recording, &session, err);
	if (r == 0 && bursts_recorded_end(&session.recorded) < 0)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0) {
		r = report(settings, &session.recorded.map, &session.recorded.profile, err);
	} else if (r == -ENOENT && session.source.reader != NULL) {
		cli_nothing(&settings->cli, "%s", err->message);
		r = 0;
	}
	bursts_recorded_deinit(&session.recorded);
	recording_source_close(&session.source);
	return r;
}

static int dcpibursts_run(struct settings *settings, struct error *err)
{
	int r;

	if (settings->of_streams && !settings->streams && settings->other == NULL)
		return error_set(err, EINVAL, "--cover, --heat and --lengths need --streams");
	if (!settings->limited && !settings->report.csv &&
	    settings->report.rows != BURSTS_REFERENCES)
		settings->report.limit = ROWS_DEFAULT;
	r = settings->cli.operand_count > 0 ? report_files(settings, err)
					    : report_database(settings, err);
	if (r >= 0 && fflush(stdout) != 0)
		return error_set_errno(err, ERROR_WRITE_OUTPUT);
	return r;
}

int main(int argc, char **argv)
{
	struct settings settings = {.which = DATA_STREAMS_DEFAULT};
	int status = cli_parse(&settings.cli, &tool, argc, argv, &settings);
	struct error err;
	int r;

	if (status == CLI_RUN)
		status = sandboxed_start(
			&settings.cli,
			&(struct sandboxed_options){.access.inputs = &settings.other,
						    .access.input_count = settings.other != NULL});
	if (status == CLI_RUN) {
		r = dcpibursts_run(&settings, &err);
		status = r > 0 ? CLI_OK : r < 0 ? cli_fail(&settings.cli, &err) : CLI_NOTHING;
	}
	cli_deinit(&settings.cli);
	return status;
}
