// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/broker.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/image_store.h"
#include "lib/options.h"
#include "lib/parse_guard.h"
#include "analysis/image/near_names.h"
#include "tools/base/text.h"
#include "tools/base/time_spec.h"
#include "tools/report/server_prefetch.h"
#include "tools/report/symbol_cache.h"

enum {
	KEY_DB = 256,
	KEY_PID,
	KEY_EPOCH,
	KEY_SINCE,
	KEY_UNTIL,
	KEY_HOST,
	KEY_BY_IMAGE,
	KEY_INCLUDE_PROFILER,
	KEY_SORT,
	KEY_JSON,
	KEY_CSV,
	KEY_NO_COLOR,
	KEY_UNIT,
	KEY_CONTAINER,
	KEY_DEBUG_DIR,
	KEY_DEBUGINFOD,
	KEY_NO_DEMANGLE,
	KEY_SOURCE_PATH,
	KEY_SUBSTITUTE_PATH,
};

struct common_option {
	unsigned int group; /* CLI_*, 0: common to all tools */
	struct option_entry option;
};

static const struct common_option common_options[] = {
	{CLI_EVENTS, {'e', "event", "EVENT[,EVENT...]", "only these events, in this order"}},
	{CLI_EVENTS, {'e', "events", "EVENT", NULL}},
	{CLI_IMAGES, {'i', "image", "PATTERN", "only images so named: \"libc.so.*\", \"/usr/*\""}},
	{CLI_BY_IMAGE, {KEY_BY_IMAGE, "by-image", NULL, "list images instead of procedures"}},
	{CLI_LIMIT, {'n', "limit", "N", "print only the first N rows"}},
	{CLI_PROFILER,
	 {KEY_INCLUDE_PROFILER, "include-profiler", NULL,
	  "count samples that profiling itself causes"}},
	{CLI_SORT, {KEY_SORT, "sort", "COLUMN", "an event, procedure, image or address"}},
	{CLI_PID, {KEY_PID, "pid", "PID", "only samples kept for this process"}},
	{CLI_PID, {KEY_UNIT, "unit", "PATTERN", "only those kept for this systemd unit"}},
	{CLI_PID, {KEY_CONTAINER, "container", "ID", "only those kept for this container"}},
	{CLI_EPOCHS, {KEY_EPOCH, "epoch", "LIST", "only these epochs: 7, 2-5, last"}},
	{CLI_EPOCHS, {KEY_SINCE, "since", "TIME", "only epochs that end at or after TIME"}},
	{CLI_EPOCHS, {KEY_UNTIL, "until", "TIME", "only epochs that start before TIME"}},
	{CLI_EPOCHS, {KEY_HOST, "host", "NAME", "only epochs of this host"}},
	{CLI_SYMBOLS, {KEY_DEBUG_DIR, "debug-dir", "DIR", "separate debug files (/usr/lib/debug)"}},
	{CLI_SYMBOLS, {KEY_DEBUGINFOD, "debuginfod", NULL, "ask the servers in DEBUGINFOD_URLS"}},
	{CLI_SYMBOLS | CLI_NAMES,
	 {KEY_NO_DEMANGLE, "no-demangle", NULL, "print names as linkers have them"}},
	{CLI_SOURCES, {KEY_SOURCE_PATH, "source-path", "DIR", "where source files are, too"}},
	{CLI_SOURCES,
	 {KEY_SUBSTITUTE_PATH, "substitute-path", "FROM=TO", "of source files, another beginning"}},
	{CLI_FORMATS, {KEY_JSON, "json", NULL, "print JSON"}},
	{CLI_TABLE, {KEY_CSV, "csv", NULL, "print the table as CSV"}},
	{CLI_FORMATS, {KEY_NO_COLOR, "no-color", NULL, "no bold text (also: NO_COLOR)"}},
	{0, {KEY_DB, "db", "FILE", "the profile database (" CLI_DATABASE_DEFAULT ")"}},
};

#define COMMON_COUNT (sizeof(common_options) / sizeof(*common_options))

static void make_options(struct options *options, const struct cli_tool *tool)
{
	options_init(options, tool->name, false);
	options_add(options, tool->options, tool->option_count);
	for (size_t i = 0; i < COMMON_COUNT; i++) {
		unsigned int group = common_options[i].group;

		if (group == 0 || (group & tool->accepts) != 0)
			options_add(options, &common_options[i].option, 1);
	}
}

static void print_help(const struct options *options, const struct cli_tool *tool)
{
	options_help(stdout, options, tool->synopsis, tool->summary);
	if (tool->accepts & CLI_EPOCHS)
		puts("\nTimes: 2026-11-20, \"2026-11-20 14:30\", @1700000000, or 10m, 2h, 3d ago.");
	puts("\nExit status: 0 good, 1 nothing found, 2 wrong usage or bad input.");
}

int cli_number(const char *text, const char *what, int64_t *ret, struct error *err)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value <= 0)
		return error_set(err, EINVAL, "\"%s\" is no %s", text, what);
	*ret = value;
	return 0;
}

int cli_real(const char *text, const char *what, double low, double high, double *ret,
	     struct error *err)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value >= low && value <= high))
		return error_set(err, EINVAL, "\"%s\" is no %s (%g to %g)", text, what, low, high);
	*ret = value;
	return 0;
}

static int add_text(const char ***list, size_t *count, const char *text, struct error *err)
{
	size_t capacity = *count;

	if (array_reserve(list, &capacity, *count + 1, sizeof(**list)) < 0)
		return error_set(err, ENOMEM, "out of memory");
	(*list)[(*count)++] = text;
	return 0;
}

/* For tools that take one database, the last one applies. */
static int add_database(struct cli *cli, const char *path, struct error *err)
{
	cli->database = path;
	return add_text(&cli->databases, &cli->database_count, path, err);
}

static int add_events(struct cli *cli, const char *text, struct error *err)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *item;
	size_t capacity = cli->event_count;

	while (copy != NULL && (item = strsep(&rest, ",")) != NULL) {
		if (*item == '\0')
			return error_set(err, EINVAL, "\"%s\" is no list of events", text);
		if (array_reserve(&cli->events, &capacity, cli->event_count + 1,
				  sizeof(*cli->events)) < 0)
			return error_set(err, ENOMEM, "out of memory");
		cli->events[cli->event_count] = strdup(item);
		if (cli->events[cli->event_count++] == NULL)
			return error_set(err, ENOMEM, "out of memory");
	}
	return copy != NULL ? 0 : error_set(err, ENOMEM, "out of memory");
}

static int set_time(const char *text, int64_t *ret, struct error *err)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return time_spec_parse(text, now.tv_sec * 1000000000LL + now.tv_nsec, ret, err);
}

static int set_filter(struct cli *cli, int key, const char *argument, struct error *err)
{
	switch (key) {
	case KEY_PID:
		cli->filter.has_pid = 1;
		return cli_number(argument, "process id", &cli->filter.pid, err);
	case KEY_UNIT:
		cli->filter.unit = argument;
		return 0;
	case KEY_CONTAINER:
		cli->filter.container = argument;
		return 0;
	case KEY_EPOCH:
		epoch_list_deinit(&cli->epochs);
		return epoch_list_parse(&cli->epochs, argument, err);
	case KEY_SINCE:
		return set_time(argument, &cli->filter.since_ns, err);
	case KEY_UNTIL:
		return set_time(argument, &cli->filter.until_ns, err);
	case KEY_HOST:
		cli->filter.host = argument;
		return 0;
	case 'i':
		cli->image = argument;
		return 0;
	}
	return -ENOENT;
}

static int set_output(struct cli *cli, int key, const char *argument, struct error *err)
{
	int64_t number = 0;
	int r;

	switch (key) {
	case 'n':
		r = cli_number(argument, "number of rows", &number, err);
		if (r == 0)
			cli->limit = (size_t)number;
		return r;
	case KEY_JSON:
	case KEY_CSV:
		if (cli->format != CLI_TEXT &&
		    cli->format != (key == KEY_JSON ? CLI_JSON : CLI_CSV))
			return error_set(err, EINVAL, "--json and --csv exclude each other");
		cli->format = key == KEY_JSON ? CLI_JSON : CLI_CSV;
		return 0;
	case KEY_INCLUDE_PROFILER:
		cli->include_profiler = true;
		return 0;
	case KEY_NO_COLOR:
		cli->color = false;
		return 0;
	case KEY_SORT:
		cli->sort = argument;
		return 0;
	}
	return -ENOENT;
}

static int set_sources(struct source_paths *sources, int key, const char *argument,
		       struct error *err)
{
	if (key == KEY_SOURCE_PATH)
		return add_text(&sources->directories, &sources->directory_count, argument, err);
	if (strchr(argument, '=') == NULL || *argument == '=')
		return error_set(err, EINVAL, "\"%s\" is no FROM=TO", argument);
	return add_text(&sources->substitutes, &sources->substitute_count, argument, err);
}

/* Return: 0, -ENOENT for an option of the tool, or another error. */
static int set_common(struct cli *cli, int key, const char *argument, struct error *err)
{
	int r;

	switch (key) {
	case 'e':
		return add_events(cli, argument, err);
	case KEY_BY_IMAGE:
		cli->by_image = true;
		return 0;
	case KEY_DB:
		return add_database(cli, argument, err);
	case KEY_DEBUG_DIR:
		cli->debug.directory = argument;
		return 0;
	case KEY_DEBUGINFOD:
		cli->debug.debuginfod = true;
		return 0;
	case KEY_NO_DEMANGLE:
		cli->demangle = false;
		return 0;
	case KEY_SOURCE_PATH:
	case KEY_SUBSTITUTE_PATH:
		return set_sources(&cli->sources, key, argument, err);
	}
	r = set_filter(cli, key, argument, err);
	return r == -ENOENT ? set_output(cli, key, argument, err) : r;
}

static bool is_common(const struct cli_tool *tool, int key)
{
	for (size_t i = 0; i < tool->option_count; i++) {
		if (tool->options[i].key == key)
			return false;
	}
	return true;
}

/* Return: the width for output that does not go to a terminal, from COLUMNS; 0: not set. */
static size_t wanted_width(void)
{
	const char *columns = getenv("COLUMNS");
	size_t width = 0;

	return columns != NULL && options_rows(columns, &width, NULL) == 0 ? width : 0;
}

static void set_defaults(struct cli *cli, const struct cli_tool *tool)
{
	struct winsize size;

	*cli = (struct cli){.tool = tool->name, .database = getenv("DCPI_DB"), .demangle = true};
	if (cli->database == NULL || *cli->database == '\0')
		cli->database = CLI_DATABASE_DEFAULT;
	cli->accepts = tool->accepts;
	cli->terminal = isatty(STDOUT_FILENO);
	if (cli->terminal) {
		cli->color = getenv("NO_COLOR") == NULL;
		if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
			cli->width = size.ws_col;
	} else {
		cli->width = wanted_width();
	}
}

int cli_parse(struct cli *cli, const struct cli_tool *tool, int argc, char **argv, void *context)
{
	struct options options;
	struct error err;
	int key, r = 0;

	set_defaults(cli, tool);
	make_options(&options, tool);
	while (r == 0 && (key = options_next(&options, argc, argv, &err)) != OPTIONS_END) {
		if (key == OPTIONS_HELP) {
			print_help(&options, tool);
			return CLI_OK;
		}
		if (key == OPTIONS_VERSION) {
			options_version(stdout, &options);
			return CLI_OK;
		}
		if (key < 0)
			r = key;
		else if (is_common(tool, key))
			r = set_common(cli, key, optarg, &err);
		else
			r = tool->set(context, key, optarg, &err);
	}
	if (r == 0 && (cli->database_count == 0 || !(tool->accepts & CLI_DATABASES))) {
		cli->database_count = 0;
		r = add_database(cli, cli->database, &err);
	}
	cli->operands = argv + optind;
	cli->operand_count = (size_t)(argc - optind);
	if (r == 0) {
		cli->debug.images = cli->image_store = image_store_directory(cli->database);
		cli_trust(&cli->debug, cli->database);
	}
	if (r == 0 && (tool->accepts & CLI_SYMBOLS))
		cli->debug.cache = cli->symbol_cache = symbol_cache_directory();
	if (r == 0 && cli->operand_count > tool->operands_max)
		r = error_set(&err, EINVAL, "unexpected argument \"%s\" (see %s --help)",
			      cli->operands[tool->operands_max], tool->name);
	if (r == 0 && cli->debug.debuginfod)
		server_prefetch_listen(cli);
	return r < 0 ? cli_fail(cli, &err) : CLI_RUN;
}

void cli_trust(struct debug_file_options *debug, const char *database)
{
	struct stat status;

	debug->checks_owner = true;
	debug->owner = stat(database, &status) == 0 ? status.st_uid : 0;
}

void cli_deinit(struct cli *cli)
{
	for (size_t i = 0; i < cli->event_count; i++)
		free(cli->events[i]);
	free(cli->events);
	free(cli->databases);
	free(cli->sources.directories);
	free(cli->sources.substitutes);
	free(cli->selected);
	free(cli->image_store);
	free(cli->symbol_cache);
	epoch_list_deinit(&cli->epochs);
}

/* Messages contain paths and names from databases, so they are cleaned. */
static void complain(const struct cli *cli, const char *message)
{
	_cleanup_free_ char *clean = text_clean(message);

	fprintf(stderr, "%s: %s\n", cli->tool, clean != NULL ? clean : "out of memory");
}

/* Report the file whose parser ran out of memory: the broker restarts the report without it. */
static bool blame_file(const struct error *err)
{
	const char *path = parse_guard_memory();
	struct broker_packet packet;

	if (err->errnum != ENOMEM || path == NULL || broker_socket() < 0)
		return false;
	broker_packet_init(&packet, BROKER_FAILED);
	packet.message.kind = PARSE_FAILURE_MEMORY;
	return broker_packet_set_text(&packet, path) == 0 &&
	       broker_send(broker_socket(), &packet) == 0;
}

int cli_fail(const struct cli *cli, const struct error *err)
{
	if (blame_file(err))
		return CLI_FAILED;
	complain(cli, err->message);
	return CLI_FAILED;
}

int cli_nothing(const struct cli *cli, const char *format, ...)
{
	char message[ERROR_MESSAGE_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	complain(cli, message);
	return CLI_NOTHING;
}

struct image_walk {
	struct profile_reader *reader;
	struct near_names near;
};

static int offer_image(void *context, const struct profile *profile)
{
	struct image_walk *walk = context;
	struct profile_image image;
	struct error err;

	if (profile_reader_image(walk->reader, profile->image, &image, &err) == 0)
		near_names_offer(&walk->near, text_last_part(image.path));
	return 0;
}

static int no_image(const struct cli *cli, const char *what)
{
	struct image_walk walk = {.near = {.wanted = cli->image}};
	struct error err;
	char near[512];
	int status;

	if (cli_open_path(&walk.reader, cli->database, &err) == 0)
		profile_reader_totals(walk.reader, &cli->filter, offer_image, &walk, &err);
	profile_reader_close(walk.reader);
	near_names_text(&walk.near, near, sizeof(near));
	status = cli_nothing(cli, "no %s in images that match \"%s\"%s", what, cli->image, near);
	near_names_deinit(&walk.near);
	return status;
}

int cli_no_samples(const struct cli *cli, const char *what, const char *otherwise)
{
	const struct profile_filter *filter = &cli->filter;

	if (filter->has_pid)
		return cli_nothing(cli,
				   "no samples are kept for process %" PRId64
				   " (samples are kept by process only where asked for)",
				   filter->pid);
	if (filter->unit != NULL || filter->container != NULL)
		return cli_nothing(cli, "no samples are kept for such a unit or container "
					"(only where asked for: dcpid.conf, per_unit)");
	if (cli->image != NULL)
		return no_image(cli, what);
	return cli_nothing(cli, "%s", otherwise);
}

struct epoch_ids {
	int64_t *ids;
	size_t count;
	size_t capacity;
};

static int collect_epoch(void *context, const struct profile_epoch *epoch)
{
	struct epoch_ids *list = context;

	if (array_reserve(&list->ids, &list->capacity, list->count + 1, sizeof(*list->ids)) < 0)
		return -ENOMEM;
	list->ids[list->count++] = epoch->id;
	return 0;
}

int cli_select_epochs(struct cli *cli, struct profile_reader *reader, struct error *err)
{
	struct epoch_ids list = {0};
	size_t kept = 0;
	int r;

	if (epoch_list_empty(&cli->epochs))
		return 0;
	r = profile_reader_epochs(reader, &cli->filter, collect_epoch, &list, err);
	free(cli->selected);
	cli->selected = list.ids;
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, "out of memory");
	if (r < 0)
		return r;
	for (size_t i = 0; i < list.count; i++) {
		if (epoch_list_selects(&cli->epochs, list.ids[i], i + 1 == list.count))
			list.ids[kept++] = list.ids[i];
	}
	if (kept == 0)
		return error_set(err, ENOENT, "no epoch matches");
	cli->filter.epochs = cli->selected;
	cli->filter.epoch_count = kept;
	return 0;
}

int cli_open_path(struct profile_reader **reader, const char *path, struct error *err)
{
	int r = profile_reader_open(reader, path, err);

	if (r == -ENOENT && strcmp(path, CLI_DATABASE_DEFAULT) == 0 &&
	    broker_access(CLI_DATABASE_OF_RUN, F_OK) == 0)
		return error_set(err, ENOENT,
				 "cannot open %s: %s (there is a " CLI_DATABASE_OF_RUN
				 " here: --db " CLI_DATABASE_OF_RUN ", or DCPI_DB)",
				 path, strerror(ENOENT));
	return r == 0 ? profile_reader_snapshot(*reader, err) : r;
}

int cli_open(struct cli *cli, struct profile_reader **reader, struct error *err)
{
	_cleanup_(server_prefetch_deinit) struct server_prefetch prefetch = {0};
	int r = cli_open_path(reader, cli->database, err);

	if (r == 0)
		r = cli_select_epochs(cli, *reader, err);
	if (r == 0)
		r = server_prefetch_add_all(&prefetch, *reader, &cli->filter, cli->image,
					    &cli->debug, err);
	if (r == 0 && server_prefetch_run(&prefetch) < 0)
		return error_set(err, ENOMEM, "out of memory");
	return r;
}

int cli_finish_output(struct error *err)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		return error_set_errno(err, "cannot write the output");
	return 0;
}
