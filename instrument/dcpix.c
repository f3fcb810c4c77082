// SPDX-License-Identifier: GPL-2.0-only
/* dcpix - rewrites executables so that they count; docs/man/dcpix.1.scd is its manual */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "instrument/copy/rewriter.h"
#include "instrument/counts/counts_report.h"
#include "instrument/counts/counts_store.h"
#include "instrument/mode_table.h"
#include "instrument/program_cache.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/options.h"

#define EXIT_NOTHING 1
#define EXIT_BAD 2
#define ROWS_DEFAULT 20

enum {
	KEY_OUTPUT = 'o',
	KEY_ROWS = 'n',
	KEY_PROFILE = 256,
	KEY_DEBUG,
	KEY_BY,
	KEY_MODE,
	KEY_METRIC,
	KEY_CHECKS,
	KEY_BURST,
	KEY_CHECKS_AT,
	KEY_DB,
	KEY_CSV,
	KEY_QUIET = 'q',
};

static const struct option_entry entries[] = {
	{KEY_OUTPUT, "output", "FILE",
	 "the rewritten program; default: PROGRAM.dcpix, in this folder"},
	{KEY_PROFILE, "profile", "PREFIX",
	 "it counts in PREFIX.PID; default: the rewritten program's path"},
	{KEY_DEBUG, "debug", "DIR", "separate debug files, for names and bounds of procedures"},
	{KEY_MODE, "mode", "MODE",
	 "what the program records: counts (the default), paths, calls, context, bursts"},
	{KEY_METRIC, "metric", "METRIC", "what is measured beside: cycles, instructions, none"},
	{KEY_CHECKS, "checks", "N", "checks between two bursts, 0: all is one; default: 100000"},
	{KEY_BURST, "burst", "N", "checks in a burst; default: 1000"},
	{KEY_CHECKS_AT, "checks-at", "WHERE",
	 "which places have checks: orig, EL, EC, EN, L4, L10, LN, EC+L4 (the default)"},
	{KEY_DB, "db", "FILE", "keep counts in this profile database, as an epoch"},
	{KEY_BY, "by", "ROWS", "a row for each procedure (the default), block or edge"},
	{KEY_ROWS, "limit", "N", "at most N rows, 0: all; default: 20 procedures, all else"},
	{KEY_CSV, "csv", NULL, "comma-separated values"},
	{KEY_QUIET, "quiet", NULL, "do not tell how much was rewritten"},
};

struct settings {
	const char *output;
	const char *profile;
	const char *debug;
	const struct instrument_mode *mode;
	struct mode_options of_mode;
	struct turn_placement placement;
	const char *database;
	struct counts_report_options report;
	bool limited;
	bool quiet;
};

static int fail(const struct error *err)
{
	fflush(stdout);
	fprintf(stderr, "dcpix: %s\n", err->message);
	return EXIT_BAD;
}

static int set_rows(struct settings *settings, const char *argument, struct error *err)
{
	static const char *const names[] = {"procedure", "block", "edge"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(argument, names[i]) == 0) {
			settings->report.rows = (enum counts_rows)i;
			return 0;
		}
	}
	return error_set(err, EINVAL, "there are no rows \"%s\": procedure, block or edge",
			 argument);
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

static int set_mode(struct settings *settings, const char *argument, struct error *err)
{
	settings->mode = mode_table_find(argument);
	if (settings->mode == NULL)
		return error_set(err, EINVAL, "there is no mode \"%s\"; see dcpix --help",
				 argument);
	return 0;
}

/* What fits which mode, in whatever order it was said. */
static int check_mode(const struct settings *settings, struct error *err)
{
	const struct instrument_mode *mode = settings->mode;

	if (settings->of_mode.metric != NULL && !mode->metric)
		return error_set(err, EINVAL, "--metric: the mode \"%s\" measures nothing",
				 mode->name);
	if ((settings->of_mode.checks != 0 || settings->of_mode.burst != 0 ||
	     settings->of_mode.all || settings->of_mode.placement != NULL) &&
	    !mode->bursts)
		return error_set(err, EINVAL,
				 "--checks, --burst, --checks-at: the mode \"%s\" has no bursts",
				 mode->name);
	return 0;
}

/* A number of checks. */
static int set_number(uint32_t *ret, const char *argument, uint32_t least, struct error *err)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(argument, &end, 10);
	if (errno != 0 || *argument < '0' || *argument > '9' || *end != '\0' || value < least ||
	    value > INT32_MAX)
		return error_set(err, EINVAL, "\"%s\" is no number of checks", argument);
	*ret = (uint32_t)value;
	return 0;
}

static int set_checks(struct settings *settings, const char *argument, struct error *err)
{
	int r = set_number(&settings->of_mode.checks, argument, 0, err);

	settings->of_mode.all = settings->of_mode.checks == 0;
	return r;
}

static int set_option(struct settings *settings, int key, struct error *err)
{
	switch (key) {
	case KEY_OUTPUT:
		settings->output = optarg;
		break;
	case KEY_PROFILE:
		settings->profile = optarg;
		break;
	case KEY_DEBUG:
		settings->debug = optarg;
		break;
	case KEY_MODE:
		return set_mode(settings, optarg, err);
	case KEY_METRIC:
		settings->of_mode.metric = optarg;
		break;
	case KEY_DB:
		settings->database = optarg;
		break;
	case KEY_CHECKS:
		return set_checks(settings, optarg, err);
	case KEY_BURST:
		return set_number(&settings->of_mode.burst, optarg, 1, err);
	case KEY_CHECKS_AT:
		settings->of_mode.placement = &settings->placement;
		return turn_placement_parse(&settings->placement, optarg, err);
	case KEY_BY:
		return set_rows(settings, optarg, err);
	case KEY_ROWS:
		return set_limit(settings, optarg, err);
	case KEY_CSV:
		settings->report.csv = true;
		break;
	case KEY_QUIET:
		settings->quiet = true;
		break;
	}
	return 0;
}

static void tell(FILE *out, const struct rewriter_report *report)
{
	fprintf(out,
		"%zu of %zu procedures, %.1f%% of %.1f KiB of code; %llu counters for %llu blocks; "
		"%.1f KiB of new code\n",
		report->copied, report->procedures,
		report->bytes ? 100.0 * (double)report->copied_bytes / (double)report->bytes : 0.0,
		(double)report->bytes / 1024, (unsigned long long)report->counters,
		(unsigned long long)report->blocks, (double)report->new_bytes / 1024);
	for (size_t i = 0; i < report->reason_count; i++)
		fprintf(out, "left as they were: %4zu procedures, %7.1f KiB: %s\n",
			report->reasons[i].procedures, (double)report->reasons[i].bytes / 1024,
			report->reasons[i].text);
}

static const char *name_in_path(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static int rewrite(const struct settings *settings, const char *program)
{
	_cleanup_free_ char *output = NULL;
	struct rewriter_options options = {.profile = settings->profile,
					   .debug = settings->debug,
					   .mode = settings->mode,
					   .of_mode = settings->of_mode};
	struct rewriter_report report;
	struct error err;

	if (settings->output == NULL && asprintf(&output, "%s.dcpix", name_in_path(program)) < 0)
		return EXIT_BAD;
	options.output = settings->output != NULL ? settings->output : output;
	if (check_mode(settings, &err) < 0)
		return fail(&err);
	if (rewriter_run(program, &options, &report, &err) < 0)
		return fail(&err);
	if (!settings->quiet)
		tell(stdout, &report);
	return 0;
}

/* --- counts --------------------------------------------------------------- */

/* Return: 1; 0 nothing was counted; or an error. */
static int store_counts(FILE *out, const struct settings *settings, const char *program,
			const struct counts_map *map, const struct counts_profile *profile,
			struct error *err)
{
	struct counts_store_epoch epoch = {.database = settings->database, .rewritten = program};
	int r = counts_store(&epoch, map, profile, err);

	if (r > 0 && !settings->quiet)
		fprintf(out, "counts of %zu process%s of %s: epoch %lld of %s\n", profile->files,
			profile->files == 1 ? "" : "es", map->path, (long long)epoch.id,
			settings->database);
	return r;
}

/* Into the database, or as a listing. */
static int take_counts(FILE *out, struct settings *settings, const char *program,
		       char *const *files, size_t count)
{
	struct counts_profile profile = {0};
	struct counts_map map = {0};
	struct error err;
	int r = counts_map_read(&map, program, &err);

	for (size_t i = 0; r == 0 && i < count; i++)
		r = counts_profile_add(&profile, &map, files[i], &err);
	if (r == 0 && !settings->limited && settings->report.rows == COUNTS_PROCEDURES)
		settings->report.limit = settings->report.csv ? 0 : ROWS_DEFAULT;
	if (r == 0 && settings->database != NULL)
		r = store_counts(out, settings, program, &map, &profile, &err);
	else if (r == 0)
		r = counts_report_print(out, &map, &profile, &settings->report, &err);
	if (r > 0 && profile.shared > 0)
		fprintf(stderr,
			"dcpix: %llu threads had to share counters: counts may be too low\n",
			(unsigned long long)profile.shared);
	counts_profile_deinit(&profile);
	counts_map_deinit(&map);
	if (r < 0)
		return fail(&err);
	return r > 0 ? 0 : EXIT_NOTHING;
}

static int counts(struct settings *settings, int argc, char **argv)
{
	struct error err;

	if (argc >= 2)
		return take_counts(stdout, settings, argv[0], argv + 1, (size_t)argc - 1);
	error_set(&err, EINVAL,
		  "counts needs a rewritten program and the files that it counted in");
	return fail(&err);
}

/* --- run ------------------------------------------------------------------ */

static int find_program(char path[4096], const char *name)
{
	const char *search = getenv("PATH");

	if (strchr(name, '/') != NULL) {
		snprintf(path, 4096, "%s", name);
		return access(path, X_OK) == 0 ? 0 : -ENOENT;
	}
	while (search != NULL && *search != '\0') {
		size_t length = strcspn(search, ":");

		snprintf(path, 4096, "%.*s/%s", (int)length, search, name);
		if (access(path, X_OK) == 0)
			return 0;
		search += length + (search[length] == ':');
	}
	return -ENOENT;
}

/* Runs it under its own name, counting in @folder. Return: as a shell's. */
static int run_program(const char *folder, const char *program, char **argv)
{
	_cleanup_free_ char *prefix = NULL;
	int status = 0;
	pid_t child;

	if (asprintf(&prefix, "%s/counts", folder) < 0)
		return EXIT_BAD;
	child = fork();
	if (child == 0) {
		setenv("DCPIX_OUT", prefix, 1);
		execv(program, argv);
		fprintf(stderr, "dcpix: cannot run %s: %s\n", program, strerror(errno));
		_exit(127);
	}
	signal(SIGINT, SIG_IGN); /* the program's */
	while (child < 0 || waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return EXIT_BAD;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int report_run(struct settings *settings, const char *folder, const char *program)
{
	_cleanup_free_ char *pattern = NULL;
	glob_t found = {0};
	int status = EXIT_NOTHING;

	if (asprintf(&pattern, "%s/counts.*", folder) < 0)
		return EXIT_BAD;
	if (glob(pattern, 0, NULL, &found) == 0)
		status = take_counts(stderr, settings, program, found.gl_pathv, found.gl_pathc);
	for (size_t i = 0; status != EXIT_BAD && i < found.gl_pathc; i++)
		unlink(found.gl_pathv[i]);
	globfree(&found);
	return status;
}

/* What is told of a rewriting, as text. Return: malloc'd, or NULL. */
static char *told_of(const struct rewriter_report *report)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	if (stream == NULL)
		return NULL;
	tell(stream, report);
	fclose(stream);
	return text;
}

static void tell_again(const char *path)
{
	_cleanup_file_ FILE *file = fopen(path, "re");
	char line[512];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		fputs(line, stderr);
}

/*
 * A program to run: one that was rewritten before, or else a new one, which is kept if it
 * can be, and otherwise made in @folder.
 */
struct runnable {
	struct program_cache cache;
	const char *path;
	char *own; /* @path, where it is nobody else's */
	char *text;
};

static void runnable_deinit(struct runnable *runnable)
{
	if (runnable->own != NULL)
		unlink(runnable->own);
	free(runnable->own);
	free(runnable->text);
	program_cache_deinit(&runnable->cache);
}

static int runnable_get(struct runnable *runnable, const struct settings *settings,
			const char *program, const char *folder, struct error *err)
{
	struct rewriter_options options = {.debug = settings->debug, .mode = settings->mode};
	struct rewriter_report report;
	int r;

	program_cache_find(&runnable->cache, program, &options);
	runnable->path = runnable->cache.path;
	if (runnable->cache.found)
		return 0;
	if (runnable->cache.path == NULL && asprintf(&runnable->own, "%s/program", folder) < 0) {
		runnable->own = NULL;
		return error_set(err, ENOMEM, "out of memory");
	}
	options.output = runnable->own != NULL ? runnable->own : runnable->cache.part;
	r = rewriter_run(program, &options, &report, err);
	if (r < 0)
		return r;
	runnable->text = told_of(&report);
	if (runnable->own == NULL && runnable->text != NULL &&
	    program_cache_keep(&runnable->cache, runnable->text))
		return 0;
	if (runnable->own == NULL)
		runnable->own = strdup(runnable->cache.part);
	runnable->path = runnable->own;
	return runnable->path != NULL ? 0 : error_set(err, ENOMEM, "out of memory");
}

static void runnable_tell(const struct runnable *runnable)
{
	if (runnable->text != NULL)
		fputs(runnable->text, stderr);
	else
		tell_again(runnable->cache.text);
}

static int run(struct settings *settings, int argc, char **argv)
{
	_cleanup_(runnable_deinit) struct runnable runnable = {.path = NULL};
	char folder[] = "/tmp/dcpix.XXXXXX", program[4096];
	struct error err;
	int status, told;

	if (argc > 0 && strcmp(argv[0], "--") == 0) {
		argc--;
		argv++;
	}
	if (settings->mode != mode_table_find(NULL)) {
		error_set(&err, EINVAL,
			  "run lists counts; the mode \"%s\" has a program of its own",
			  settings->mode->name);
		return fail(&err);
	}
	if (argc < 1 || find_program(program, argv[0]) < 0) {
		error_set(&err, ENOENT, argc < 1 ? "run needs a program" : "cannot find %s",
			  argv[0]);
		return fail(&err);
	}
	if (mkdtemp(folder) == NULL) {
		error_set_errno(&err, "cannot make a folder in /tmp");
		return fail(&err);
	}
	if (runnable_get(&runnable, settings, program, folder, &err) < 0) {
		rmdir(folder);
		return fail(&err);
	}
	status = run_program(folder, runnable.path, argv);
	fflush(stdout);
	if (!settings->quiet)
		runnable_tell(&runnable);
	told = report_run(settings, folder, runnable.path);
	if (told == EXIT_BAD) {
		/* Nobody wants to run it again for want of a database. */
		fprintf(stderr, "dcpix: what %s counted is in %s\n", runnable.path, folder);
		free(runnable.own);
		runnable.own = NULL;
		return EXIT_BAD;
	}
	if (runnable.own != NULL)
		unlink(runnable.own);
	rmdir(folder);
	return status != 0 ? status : told;
}

int main(int argc, char **argv)
{
	static const char synopsis[] = "[OPTION]... PROGRAM\n"
				       "       dcpix [OPTION]... run PROGRAM [ARGUMENT]...\n"
				       "       dcpix [OPTION]... counts REWRITTEN FILE...";
	struct settings settings = {.mode = mode_table_find(NULL)};
	struct options options;
	struct error err;
	int key, count = 0;

	options_init(&options, "dcpix", true);
	options_add(&options, entries, sizeof(entries) / sizeof(*entries));
	/* Options may follow operands, but for those of a program that is run. */
	do {
		while ((key = options_next(&options, argc, argv, &err)) >= 0) {
			if (key == OPTIONS_HELP) {
				options_help(stdout, &options, synopsis,
					     "Rewrites executables so that they count what they "
					     "execute.");
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
		if (count == 0 && optind < argc && strcmp(argv[optind], "run") == 0)
			return run(&settings, argc - optind - 1, argv + optind + 1);
		if (optind < argc)
			argv[count++] = argv[optind++];
	} while (optind < argc);
	if (count > 0 && strcmp(argv[0], "counts") == 0)
		return counts(&settings, count - 1, argv + 1);
	if (count == 1)
		return rewrite(&settings, argv[0]);
	error_set(&err, EINVAL,
		  count == 0 ? "a program is needed; see dcpix --help" : "more than one program");
	return fail(&err);
}
