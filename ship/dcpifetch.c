// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpifetch: copy the samples of many machines from the engine that dcpiship delivers to into a
 * profile database, for the reports. The option --from of reports runs it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/options.h"
#include "ship/fleet_copy.h"

/* Thirty years. */
#define LAST_S_MAX 1000000000
#define EXIT_NOTHING 1
#define EXIT_BAD 2

enum fetch_option {
	OPTION_FROM = 256,
	OPTION_BY,
	OPTION_SINCE,
	OPTION_UNTIL,
	OPTION_LAST,
	OPTION_HOST,
};

static const struct option_entry entries[] = {
	{OPTION_FROM, "from", "ENGINE",
	 "clickhouse://HOST:PORT/DATABASE, or a configuration of dcpiship"},
	{'o', "output", "FILE", "write this profile database, which must not exist"},
	{OPTION_BY, "by", "WHAT",
	 "keep apart: 'events' (default), 'host' or 'epoch'; the engine adds up the rest"},
	{OPTION_HOST, "host", "NAME", "use only epochs of this host"},
	{OPTION_SINCE, "since-ns", "TIME",
	 "use only slices that begin at or after this time, in nanoseconds since 1970"},
	{OPTION_UNTIL, "until-ns", "TIME", "use only slices that begin before this time"},
	{OPTION_LAST, "last-s", "SECONDS", "use only the end of the data"},
};

static const char *const grouping_names[] = {
	[FLEET_BY_EVENTS] = "events",
	[FLEET_BY_HOST] = "host",
	[FLEET_BY_EPOCH] = "epoch",
};

/* struct fetch - contents of the command line */
struct fetch {
	const char *from;
	const char *output;
	struct fleet_filter filter;
};

static int grouping_set(struct fetch *fetch, const char *name, struct error *err)
{
	for (size_t i = 0; i < sizeof(grouping_names) / sizeof(*grouping_names); i++) {
		if (strcmp(grouping_names[i], name) == 0) {
			fetch->filter.grouping = (enum fleet_grouping)i;
			return 0;
		}
	}
	return error_set(err, EINVAL, ERROR_NOT_VALID, name, "kind: 'events', 'host' or 'epoch'");
}

static int option_set(struct fetch *fetch, int key, const char *value, struct error *err)
{
	switch (key) {
	case OPTION_FROM:
		fetch->from = value;
		return 0;
	case 'o':
		fetch->output = value;
		return 0;
	case OPTION_BY:
		return grouping_set(fetch, value, err);
	case OPTION_HOST:
		fetch->filter.host = value;
		return 0;
	case OPTION_SINCE:
		return engine_time(value, &fetch->filter.since_ns, err);
	case OPTION_UNTIL:
		return engine_time(value, &fetch->filter.until_ns, err);
	case OPTION_LAST:
		return engine_number(value, LAST_S_MAX, &fetch->filter.last_s, err);
	}
	return -EINVAL;
}

/* Return: 0; 1: the program is done; or an error. */
static int options_read(struct fetch *fetch, int argc, char **argv, struct error *err)
{
	struct options options;
	int key, r = 0;

	options_init(&options, "dcpifetch", false);
	options_add(&options, entries, sizeof(entries) / sizeof(*entries));
	while (r == 0 && (key = options_next(&options, argc, argv, err)) != OPTIONS_END) {
		if (key == OPTIONS_HELP) {
			options_help(stdout, &options, "--from ENGINE --output FILE [OPTION]...",
				     "Copy the samples of many machines from an engine.");
			return 1;
		}
		if (key == OPTIONS_VERSION) {
			options_version(stdout, &options);
			return 1;
		}
		r = key < 0 ? key : option_set(fetch, key, optarg, err);
	}
	if (r == 0 && optind < argc)
		r = error_set(err, EINVAL, ERROR_UNEXPECTED_ARGUMENT("dcpifetch"), argv[optind]);
	if (r == 0 && (fetch->from == NULL || fetch->output == NULL))
		r = error_set(err, EINVAL,
			      "--from and --output are required" ERROR_SEE_HELP("dcpifetch"));
	return r;
}

/* Return: 0; 1: the engine has no samples that are selected; or an error. */
static int fetch_run(struct fetch *fetch, struct error *err)
{
	struct fleet fleet = {.count = 0};
	struct engine *engine = NULL;
	int r = engine_open(&engine, fetch->from, err);

	if (r == 0 && access(fetch->output, F_OK) == 0)
		r = error_set(err, EEXIST, "'%s' exists already", fetch->output);
	if (r == 0)
		r = fleet_read(&fleet, engine, &fetch->filter, err);
	if (r == 0 && fleet.count == 0)
		r = 1;
	else if (r == 0)
		r = fleet_copy(&fleet, engine, &fetch->filter, fetch->output, err);
	fleet_deinit(&fleet);
	engine_close(engine);
	return r;
}

int main(int argc, char **argv)
{
	struct fetch fetch = {.from = NULL};
	struct error err = {.message = ""};
	int r = options_read(&fetch, argc, argv, &err);

	if (r > 0)
		return 0;
	signal(SIGPIPE, SIG_IGN);
	if (r == 0)
		r = fetch_run(&fetch, &err);
	if (r < 0) {
		fprintf(stderr, "dcpifetch: %s\n", err.message);
		return EXIT_BAD;
	}
	if (r > 0)
		fputs("dcpifetch: the engine has no samples that are selected\n", stderr);
	return r > 0 ? EXIT_NOTHING : 0;
}
