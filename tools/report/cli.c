// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/cli.h"

#include <errno.h>
#include <fnmatch.h>
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
#include "lib/error_text.h"
#include "lib/image_store.h"
#include "lib/near_names.h"
#include "lib/options.h"
#include "lib/parse_guard.h"
#include "tools/base/text.h"
#include "tools/base/time_spec.h"
#include "tools/report/fleet_database.h"
#include "tools/report/image_label.h"
#include "tools/report/server_prefetch.h"
#include "tools/report/symbol_cache.h"

enum {
	KEY_DB = 256,
	KEY_PID,
	KEY_EPOCH,
	KEY_SINCE,
	KEY_UNTIL,
	KEY_LAST,
	KEY_HOST,
	KEY_BY_IMAGE,
	KEY_INCLUDE_PROFILER,
	KEY_IDLE,
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
	KEY_HEADER,
	KEY_BRIEF,
	KEY_WIDE,
	KEY_FROM,
};

/* Width of a terminal that does not report its own. */
#define TERMINAL_WIDTH 80

struct common_option {
	unsigned int group; /* CLI_*, 0: common to all tools */
	struct option_entry option;
};

static const struct common_option common_options[] = {
	{CLI_EVENTS, {'e', "event", "EVENT[,EVENT...]", "show only these events, in this order"}},
	{CLI_EVENTS, {'e', "events", "EVENT", NULL}},
	{CLI_IMAGES,
	 {'i', "image", "PATTERN", "show only images whose name matches: 'libc.so.*', '/usr/*'"}},
	{CLI_BY_IMAGE, {KEY_BY_IMAGE, "by-image", NULL, "list images instead of procedures"}},
	{CLI_LIMIT, {'n', "limit", "N", "print only the first N rows"}},
	{CLI_PROFILER,
	 {KEY_INCLUDE_PROFILER, "include-profiler", NULL,
	  "include samples that profiling itself causes"}},
	{CLI_IDLE,
	 {KEY_IDLE, "idle", NULL, "include samples of the time in which CPUs wait for work"}},
	{CLI_SORT,
	 {KEY_SORT, "sort", "COLUMN", "sort rows by an event, procedure, image or address"}},
	{CLI_PID, {KEY_PID, "pid", "PID", "use only samples stored for this process"}},
	{CLI_PID, {KEY_UNIT, "unit", "PATTERN", "use only samples stored for this systemd unit"}},
	{CLI_PID, {KEY_CONTAINER, "container", "ID", "use only samples stored for this container"}},
	{CLI_EPOCHS, {KEY_EPOCH, "epoch", "LIST", "use only these epochs: 7, 2-5, last"}},
	{CLI_EPOCHS, {KEY_SINCE, "since", "TIME", "use only samples taken at or after TIME"}},
	{CLI_EPOCHS, {KEY_UNTIL, "until", "TIME", "use only samples taken before TIME"}},
	{CLI_EPOCHS, {KEY_LAST, "last", "DURATION", "use only the end of the data, such as 10m"}},
	{CLI_EPOCHS, {KEY_HOST, "host", "NAME", "use only epochs of this host"}},
	{CLI_SYMBOLS,
	 {KEY_DEBUG_DIR, "debug-dir", "DIR",
	  "search for separate debug files here (/usr/lib/debug)"}},
	{CLI_SYMBOLS,
	 {KEY_DEBUGINFOD, "debuginfod", NULL, "download debug files from DEBUGINFOD_URLS"}},
	{CLI_SYMBOLS | CLI_NAMES,
	 {KEY_NO_DEMANGLE, "no-demangle", NULL, "print names of symbols as they are in files"}},
	{CLI_SOURCES, {KEY_SOURCE_PATH, "source-path", "DIR", "search for source files here, too"}},
	{CLI_SOURCES,
	 {KEY_SUBSTITUTE_PATH, "substitute-path", "FROM=TO",
	  "replace a prefix of the paths of source files"}},
	{CLI_FORMATS, {KEY_JSON, "json", NULL, "print JSON"}},
	{CLI_TABLE, {KEY_CSV, "csv", NULL, "print the table as CSV"}},
	{CLI_HEADER,
	 {KEY_HEADER, "header", NULL, "print the full header (the default, except on a terminal)"}},
	{CLI_HEADER,
	 {KEY_BRIEF, "brief", NULL, "print one line as header (the default on a terminal)"}},
	{CLI_HEADER | CLI_TABLE,
	 {KEY_WIDE, "wide", NULL, "do not shorten names to fit the terminal"}},
	{CLI_FORMATS, {KEY_NO_COLOR, "no-color", NULL, "omit bold text (also: NO_COLOR)"}},
	{CLI_FROM,
	 {KEY_FROM, "from", "ENGINE",
	  "use samples of many machines: clickhouse://HOST:PORT/DATABASE"}},
	{0, {KEY_DB, "db", "FILE", "read this profile database (" CLI_DATABASE_DEFAULT ")"}},
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
		puts("\nTimes: 2026-11-20, '2026-11-20 14:30', @1700000000, or 10m, 2h, 3d before "
		     "now.");
	puts("\nExit status: 0 success, 1 nothing found, 2 failure.");
}

int cli_number(const char *text, const char *what, int64_t *ret, struct error *err)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || value <= 0)
		return error_set(err, EINVAL, ERROR_NOT_VALID, text, what);
	*ret = value;
	return 0;
}

int cli_real(const char *text, const char *what, double low, double high, double *ret,
	     struct error *err)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value >= low && value <= high))
		return error_set(err, EINVAL, ERROR_NOT_VALID " (%g to %g)", text, what, low, high);
	*ret = value;
	return 0;
}

static int add_text(const char ***list, size_t *count, const char *text, struct error *err)
{
	size_t capacity = *count;

	if (array_reserve(list, &capacity, *count + 1, sizeof(**list)) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
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
			return error_set(err, EINVAL, "'%s' is not a valid list of events", text);
		if (array_reserve(&cli->events, &capacity, cli->event_count + 1,
				  sizeof(*cli->events)) < 0)
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
		cli->events[cli->event_count] = strdup(item);
		if (cli->events[cli->event_count++] == NULL)
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	return copy != NULL ? 0 : error_set(err, ENOMEM, ERROR_NO_MEMORY);
}

static int set_time(const char *text, int64_t *ret, struct error *err)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return time_spec_parse(text, now.tv_sec * 1000000000LL + now.tv_nsec, ret, err);
}

/* A duration is a time before now: "10m". */
static int set_last(struct cli *cli, const char *text, struct error *err)
{
	const int64_t now_ns = INT64_MAX;
	int64_t time_ns = 0;

	if (strspn(text, "0123456789") + 1 != strlen(text) ||
	    time_spec_parse(text, now_ns, &time_ns, NULL) < 0 || time_ns == now_ns)
		return error_set(err, EINVAL, "'%s' is not a duration such as 90s, 10m or 2h",
				 text);
	cli->last_ns = now_ns - time_ns;
	return 0;
}

static int set_filter(struct cli *cli, int key, const char *argument, struct error *err)
{
	switch (key) {
	case KEY_PID:
		cli->filter.has_pid = 1;
		return cli_number(argument, "process ID", &cli->filter.pid, err);
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
	case KEY_LAST:
		return set_last(cli, argument, err);
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
			return error_set(err, EINVAL, ERROR_EXCLUSIVE("--json", "--csv"));
		cli->format = key == KEY_JSON ? CLI_JSON : CLI_CSV;
		return 0;
	case KEY_INCLUDE_PROFILER:
		cli->include.profiler = true;
		return 0;
	case KEY_IDLE:
		cli->include.idle = true;
		return 0;
	case KEY_NO_COLOR:
		cli->color = false;
		return 0;
	case KEY_HEADER:
	case KEY_BRIEF:
		cli->brief = key == KEY_BRIEF;
		return 0;
	case KEY_WIDE:
		cli->width = 0;
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
		return error_set(err, EINVAL, "'%s' is not of the form FROM=TO", argument);
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
	case KEY_FROM:
		cli->from = argument;
		return 0;
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

/* Return: the value of COLUMNS, else the width of a terminal, else 0: any width. */
static size_t output_width(bool terminal)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	size_t width = 0;

	if (columns != NULL && options_rows(columns, &width, NULL) == 0 && width > 0)
		return width;
	if (!terminal)
		return 0;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
									       : TERMINAL_WIDTH;
}

static void set_defaults(struct cli *cli, const struct cli_tool *tool)
{
	*cli = (struct cli){.tool = tool->name, .database = getenv("DCPI_DB"), .demangle = true};
	cli->fetch_by = tool->fetch_by != NULL ? tool->fetch_by : "events";
	if (cli->database == NULL || *cli->database == '\0')
		cli->database = CLI_DATABASE_DEFAULT;
	cli->accepts = tool->accepts;
	cli->terminal = isatty(STDOUT_FILENO);
	cli->color = cli->terminal && getenv("NO_COLOR") == NULL;
	cli->brief = cli->terminal;
	cli->width = output_width(cli->terminal);
}

int cli_parse(struct cli *cli, const struct cli_tool *tool, int argc, char **argv, void *context)
{
	struct options options;
	struct error err;
	int key, status, r = 0;

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
	cli->operands = argv + optind;
	cli->operand_count = (size_t)(argc - optind);
	if (r == 0 && cli->operand_count > tool->operands_max)
		r = error_set(&err, EINVAL, ERROR_UNEXPECTED_ARGUMENT("%s"),
			      cli->operands[tool->operands_max], tool->name);
	if (r == 0) {
		/* With --from, too, images are in the store of this machine. */
		cli->debug.images = cli->image_store = image_store_directory(cli->database);
		cli_trust(&cli->debug, cli->database);
	}
	if (r == 0 && cli->from != NULL) {
		status = fleet_database_make(cli);
		if (status != CLI_RUN)
			return status;
	}
	if (r == 0 && (cli->database_count == 0 || !(tool->accepts & CLI_DATABASES))) {
		cli->database_count = 0;
		r = add_database(cli, cli->database, &err);
	}
	if (r == 0 && (tool->accepts & CLI_SYMBOLS))
		cli->debug.cache = cli->symbol_cache = symbol_cache_directory();
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

	fprintf(stderr, "%s: %s\n", cli->tool, clean != NULL ? clean : ERROR_NO_MEMORY);
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

/* @near, @any: near names, and whether one matches */
struct image_walk {
	struct profile_reader *reader;
	struct near_names near;
	bool any;
};

static int offer_image(void *context, const struct profile *profile)
{
	struct image_walk *walk = context;
	struct profile_image image;
	struct error err;

	if (profile_reader_image(walk->reader, profile->image, &image, &err) < 0)
		return 0;
	walk->any |= image_label_matches(&image, walk->near.wanted);
	near_names_add(&walk->near, text_last_part(image.path));
	return 0;
}

int cli_image_missing(struct profile_reader *reader, const char *what, const char *pattern,
		      struct error *err)
{
	struct image_walk walk = {.reader = reader};
	char near[256] = "";
	int r;

	near_names_init(&walk.near, pattern);
	r = profile_reader_totals(reader, NULL, offer_image, &walk, err);
	if (!walk.any)
		near_names_text(&walk.near, near, sizeof(near));
	near_names_deinit(&walk.near);
	if (r < 0)
		return r;
	return error_set(err, walk.any ? ENOENT : EINVAL, "no %s in images that match '%s'%s", what,
			 pattern, near);
}

int cli_no_image(const struct cli *cli, const char *what, const char *hint)
{
	struct error err;
	int r = -EINVAL;

	/* An image of any of the databases may have the name. */
	for (size_t i = 0; i < cli->database_count && r == -EINVAL; i++) {
		struct profile_reader *reader = NULL;

		r = cli_open_path(&reader, cli->databases[i], &err);
		if (r == 0)
			r = cli_image_missing(reader, what, cli->image, &err);
		profile_reader_close(reader);
	}
	return r == -ENOENT ? cli_nothing(cli, "%s%s", err.message, hint) : cli_fail(cli, &err);
}

/* @near: names of units, or of containers if the command line names no unit */
struct owner_walk {
	const struct cli *cli;
	struct profile_reader *reader;
	struct near_names near;
	bool any;
};

static int offer_owner(void *context, const struct profile_label *label)
{
	struct owner_walk *walk = context;
	const char *name = walk->cli->filter.unit != NULL ? label->unit : label->container;

	walk->any |= strncmp(name, walk->near.wanted, strlen(walk->near.wanted)) == 0 ||
		     fnmatch(walk->near.wanted, name, 0) == 0;
	if (*name != '\0')
		near_names_add(&walk->near, name);
	return 0;
}

static int offer_owners(void *context, const struct profile_epoch *epoch)
{
	struct owner_walk *walk = context;
	struct error err;

	return profile_reader_labels(walk->reader, epoch->id, offer_owner, walk, &err);
}

/* Near names are an error of the user; otherwise samples of the unit may not have been kept. */
static int no_owner(const struct cli *cli)
{
	const struct profile_filter *filter = &cli->filter;
	struct owner_walk walk = {.cli = cli};
	struct error err;
	char near[256];

	near_names_init(&walk.near, filter->unit != NULL ? filter->unit : filter->container);
	if (cli_open_path(&walk.reader, cli->database, &err) == 0)
		profile_reader_epochs(walk.reader, NULL, offer_owners, &walk, &err);
	profile_reader_close(walk.reader);
	near_names_text(&walk.near, near, sizeof(near));
	near_names_deinit(&walk.near);
	error_set(&err, EINVAL,
		  "no samples are stored for this unit or container%s (see per_unit in dcpid.conf)",
		  walk.any ? "" : near);
	return *near != '\0' && !walk.any ? cli_fail(cli, &err)
					  : cli_nothing(cli, "%s", err.message);
}

int cli_no_samples(const struct cli *cli, const char *what, const char *otherwise)
{
	const struct profile_filter *filter = &cli->filter;

	if (filter->has_pid)
		return cli_nothing(cli,
				   "no samples are stored for process %" PRId64
				   " (see per_process in dcpid.conf)",
				   filter->pid);
	if (filter->unit != NULL || filter->container != NULL)
		return no_owner(cli);
	if (cli->image != NULL)
		return cli_no_image(cli, what, "");
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

/* @first, @last: numbers of the epochs */
struct epoch_walk {
	const struct cli *cli;
	struct near_names hosts;
	int64_t first;
	int64_t last;
	bool has_host;
	bool selected;
};

static int epoch_note(void *context, const struct profile_epoch *epoch)
{
	struct epoch_walk *walk = context;
	const struct epoch_list *list = &walk->cli->epochs;

	walk->first = walk->first == 0 || epoch->id < walk->first ? epoch->id : walk->first;
	walk->last = epoch->id > walk->last ? epoch->id : walk->last;
	walk->selected |= epoch_list_empty(list) || epoch_list_selects(list, epoch->id, true);
	if (walk->hosts.wanted == NULL)
		return 0;
	walk->has_host |= strcmp(epoch->host, walk->hosts.wanted) == 0;
	near_names_add(&walk->hosts, epoch->host);
	return 0;
}

int cli_no_epoch(const struct cli *cli, struct profile_reader *reader, struct error *err)
{
	struct epoch_walk walk = {.cli = cli, .hosts = {.wanted = cli->filter.host}};
	char near[256];
	int r = profile_reader_epochs(reader, NULL, epoch_note, &walk, err);

	near_names_text(&walk.hosts, near, sizeof(near));
	near_names_deinit(&walk.hosts);
	if (r < 0)
		return r;
	if (walk.hosts.wanted != NULL && !walk.has_host && walk.last != 0)
		return error_set(err, EINVAL, ERROR_NO_EPOCH ": none is of host '%s'%s",
				 cli->filter.host, near);
	if (!walk.selected && walk.last != 0)
		return error_set(err, EINVAL,
				 ERROR_NO_EPOCH ": there are epochs %" PRId64 " to %" PRId64,
				 walk.first, walk.last);
	return error_set(err, ENOENT, ERROR_NO_EPOCH);
}

static int find_end(void *context, const struct profile_epoch *epoch)
{
	int64_t *end_ns = context;

	*end_ns = epoch->end_ns > *end_ns ? epoch->end_ns : *end_ns;
	return 0;
}

/* Convert --last to --since: the data may have ended long ago. The later of both counts. */
static int select_last(struct cli *cli, struct profile_reader *reader, struct error *err)
{
	int64_t end_ns = 0;
	int r;

	if (cli->last_ns == 0)
		return 0;
	if (cli->last_of != NULL && cli->last_of != reader)
		return error_set(err, EINVAL, "--last requires one database: use --since");
	cli->last_of = reader;
	r = profile_reader_epochs(reader, &cli->filter, find_end, &end_ns, err);
	if (end_ns - cli->last_ns > cli->filter.since_ns)
		cli->filter.since_ns = end_ns - cli->last_ns;
	return r;
}

int cli_select_epochs(struct cli *cli, struct profile_reader *reader, struct error *err)
{
	struct epoch_ids list = {0};
	size_t kept = 0;
	int r = select_last(cli, reader, err);

	if (r < 0 || epoch_list_empty(&cli->epochs))
		return r;
	r = profile_reader_epochs(reader, &cli->filter, collect_epoch, &list, err);
	free(cli->selected);
	cli->selected = list.ids;
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r < 0)
		return r;
	for (size_t i = 0; i < list.count; i++) {
		if (epoch_list_selects(&cli->epochs, list.ids[i], i + 1 == list.count))
			list.ids[kept++] = list.ids[i];
	}
	if (kept == 0)
		return cli_no_epoch(cli, reader, err);
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
				 ERROR_OPEN ": %s (to read '" CLI_DATABASE_OF_RUN
					    "' of this folder, use --db " CLI_DATABASE_OF_RUN
					    " or set DCPI_DB)",
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
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return r;
}

int cli_finish_output(struct error *err)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		return error_set_errno(err, ERROR_WRITE_OUTPUT);
	return 0;
}
