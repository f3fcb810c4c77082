// SPDX-License-Identifier: GPL-2.0-only
/* dcpix - rewrite executables so that they record their execution; manual: docs/man/dcpix.1.scd */
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "instrument/clone/rewriter.h"
#include "instrument/counts/counts_report.h"
#include "instrument/mode_store.h"
#include "instrument/mode_table.h"
#include "instrument/library_set.h"
#include "instrument/runnable.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "lib/options.h"
#include "lib/program_path.h"

#define EXIT_NOTHING 1
#define EXIT_BAD 2
#define ROWS_DEFAULT 20UL
#define MODES_MAX 16
#define ROOM_MAX (1U << 26)

enum {
	KEY_OUTPUT = 'o',
	KEY_ROWS = 'n',
	KEY_PROFILE = 256,
	KEY_SECURE,
	KEY_DEBUG,
	KEY_BY,
	KEY_MODE,
	KEY_METRIC,
	KEY_CHECKS,
	KEY_BURST,
	KEY_CHECKS_AT,
	KEY_ROOM,
	KEY_WHOLE,
	KEY_SITES,
	KEY_DB,
	KEY_LIBRARY,
	KEY_LIBRARIES,
	KEY_CSV,
	KEY_QUIET = 'q',
	KEY_VERBOSE = 'v',
};

static const struct option_entry entries[] = {
	{KEY_OUTPUT, "output", "FILE", "write to FILE; default: PROGRAM.dcpix in this folder"},
	{KEY_PROFILE, "profile", "PREFIX",
	 "record in PREFIX.PID; default: the rewritten program's path"},
	{KEY_SECURE, "allow-setuid", NULL,
	 "also record in processes with more privileges than their user"},
	{KEY_DEBUG, "debug", "DIR", "search DIR for separate debug files, for procedures"},
	{KEY_MODE, "mode", "MODE",
	 "record counts (the default), paths, calls, context, context-paths, bursts or variation"},
	{KEY_METRIC, "metric", "METRIC", "also measure cycles, instructions or none"},
	{KEY_CHECKS, "checks", "N",
	 "start a burst every N checks; 0: record all; default: 100000, paths: 10000"},
	{KEY_BURST, "burst", "N", "end a burst after N checks; default: 1000, paths: 100"},
	{KEY_CHECKS_AT, "checks-at", "WHERE",
	 "place checks by orig, EL, EC, EN, L4, L10, LN or EC+L4 (the default)"},
	{KEY_ROOM, "room", "N", "limit the references of a thread, or the counters of paths"},
	{KEY_WHOLE, "whole", NULL, "extend paths that enter a loop through its first iteration"},
	{KEY_SITES, "sites", NULL, "distinguish the call sites of a procedure in contexts"},
	{KEY_DB, "db", "FILE", "store the recording in this profile database, as an epoch"},
	{KEY_LIBRARY, "library", "NAME", "with run, also rewrite this library; may be repeated"},
	{KEY_LIBRARIES, "libraries", NULL, "with run, also rewrite all libraries loaded at start"},
	{KEY_BY, "by", "ROWS", "list procedures (the default), blocks or edges"},
	{KEY_ROWS, "limit", "N", "print at most N rows; 0: all; default: 20, all blocks and edges"},
	{KEY_CSV, "csv", NULL, "print comma-separated values"},
	{KEY_QUIET, "quiet", NULL, "omit the summary"},
	{KEY_VERBOSE, "verbose", NULL,
	 "list each procedure that is not rewritten, with the reason"},
};

struct settings {
	const char *output;
	const char *profile;
	bool secure;
	const char *debug;
	const struct instrument_mode *mode;
	struct mode_options of_mode;
	struct burst_switch_placement placement;
	const char *database;
	const char *libraries[LIBRARY_SET_WANTED_MAX]; /* "": all */
	size_t library_count;
	struct counts_report_options report;
	bool limited;
	bool quiet;
	bool verbose;
};

static const char synopsis[] = "[OPTION]... PROGRAM\n"
			       "       dcpix run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
			       "       dcpix counts [OPTION]... REWRITTEN FILE...";

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
	return near_names_unknown(err, "kind of row", argument, names,
				  sizeof(names) / sizeof(*names));
}

static int set_mode(struct settings *settings, const char *argument, struct error *err)
{
	const char *names[MODES_MAX];
	size_t count = 0;

	settings->mode = mode_table_find(argument);
	if (settings->mode != NULL)
		return 0;
	while (count < MODES_MAX && mode_table_get(count) != NULL) {
		names[count] = mode_table_get(count)->name;
		count++;
	}
	return near_names_unknown(err, "mode", argument, names, count);
}

/* Check that the options fit the mode, in any order on the command line. */
static int check_mode(const struct settings *settings, struct error *err)
{
	const struct instrument_mode *mode = mode_refine(settings->mode, &settings->of_mode);
	bool may_have_bursts = settings->mode->sampled != NULL && settings->of_mode.metric != NULL;

	if (settings->of_mode.metric != NULL && !mode->metric)
		return error_set(err, EINVAL, "mode '%s' does not support --metric", mode->name);
	if ((settings->of_mode.checks != 0 || settings->of_mode.burst != 0 ||
	     settings->of_mode.placement != NULL || (settings->of_mode.all && !may_have_bursts)) &&
	    !mode->bursts)
		return error_set(err, EINVAL,
				 "mode '%s' does not support --checks, --burst and --checks-at",
				 mode->name);
	if (settings->of_mode.room != 0 && !mode->room)
		return error_set(err, EINVAL, "mode '%s' does not support --room", mode->name);
	if (settings->of_mode.whole && !mode->whole)
		return error_set(err, EINVAL, "mode '%s' does not support --whole", mode->name);
	if (settings->of_mode.sites && !mode->sites)
		return error_set(err, EINVAL, "mode '%s' does not support --sites", mode->name);
	return 0;
}

/* Parse a number of checks or of references. */
static int set_number(uint32_t *ret, const char *argument, uint32_t least, uint32_t most,
		      struct error *err)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(argument, &end, 10);
	if (errno != 0 || *argument < '0' || *argument > '9' || *end != '\0' || value < least ||
	    value > most)
		return error_set(err, EINVAL, "'%s' is not a valid number (%u to %u)", argument,
				 least, most);
	*ret = (uint32_t)value;
	return 0;
}

static int set_checks(struct settings *settings, const char *argument, struct error *err)
{
	int r = set_number(&settings->of_mode.checks, argument, 0, INT32_MAX, err);

	settings->of_mode.all = settings->of_mode.checks == 0;
	return r;
}

static int add_library(struct settings *settings, const char *name, struct error *err)
{
	if (settings->library_count == LIBRARY_SET_WANTED_MAX)
		return error_set(err, EINVAL, "more than %d libraries", LIBRARY_SET_WANTED_MAX);
	settings->libraries[settings->library_count++] = name;
	return 0;
}

static int dcpix_set_option(struct settings *settings, int key, struct error *err)
{
	switch (key) {
	case KEY_OUTPUT:
		settings->output = optarg;
		break;
	case KEY_PROFILE:
		settings->profile = optarg;
		break;
	case KEY_SECURE:
		settings->secure = true;
		break;
	case KEY_DEBUG:
		settings->debug = optarg;
		break;
	case KEY_MODE:
		return set_mode(settings, optarg, err);
	case KEY_METRIC:
		settings->of_mode.metric = optarg;
		break;
	case KEY_LIBRARY:
		return add_library(settings, optarg, err);
	case KEY_LIBRARIES:
		return add_library(settings, "", err);
	case KEY_DB:
		settings->database = optarg;
		break;
	case KEY_CHECKS:
		return set_checks(settings, optarg, err);
	case KEY_BURST:
		return set_number(&settings->of_mode.burst, optarg, 1, INT32_MAX, err);
	case KEY_WHOLE:
		settings->of_mode.whole = true;
		break;
	case KEY_SITES:
		settings->of_mode.sites = true;
		break;
	case KEY_ROOM:
		return set_number(&settings->of_mode.room, optarg, 1, ROOM_MAX, err);
	case KEY_CHECKS_AT:
		settings->of_mode.placement = &settings->placement;
		return burst_switch_placement_parse(&settings->placement, optarg, err);
	case KEY_BY:
		return set_rows(settings, optarg, err);
	case KEY_ROWS:
		settings->limited = true;
		return options_rows(optarg, &settings->report.limit, err);
	case KEY_CSV:
		settings->report.csv = true;
		break;
	case KEY_QUIET:
		settings->quiet = true;
		break;
	case KEY_VERBOSE:
		settings->verbose = true;
		break;
	}
	return 0;
}

/* The callback of rewriter_options.left. */
static void report_left(void *context, const char *name, uint64_t start, uint64_t end,
			const char *why)
{
	fprintf(context, "left 0x%llx 0x%llx %s: %s\n", (unsigned long long)start,
		(unsigned long long)end, name, why);
}

static int rewrite(const struct settings *settings, const char *program)
{
	_cleanup_free_ char *output = NULL;
	struct rewriter_options options = {.profile = settings->profile,
					   .secure = settings->secure,
					   .debug = settings->debug,
					   .mode = settings->mode,
					   .of_mode = settings->of_mode};
	struct rewriter_report report;
	struct error err;

	if (settings->output == NULL && asprintf(&output, "%s.dcpix", basename(program)) < 0)
		return EXIT_BAD;
	options.output = settings->output != NULL ? settings->output : output;
	if (check_mode(settings, &err) < 0)
		return fail(&err);
	if (settings->verbose) {
		options.left = report_left;
		options.context = stdout;
	}
	if (rewriter_run(program, &options, &report, &err) < 0)
		return fail(&err);
	if (!settings->quiet)
		rewriter_report_print(stdout, &report);
	return 0;
}

static void report_shared(uint64_t threads)
{
	if (threads > 0)
		fprintf(stderr, "dcpix: %llu threads shared counters: counts may be too low\n",
			(unsigned long long)threads);
}

/* --- counts --------------------------------------------------------------- */

/* Store a recording of any mode in the database. */
static int store(FILE *out, const struct settings *settings, const char *program,
		 char *const *files, size_t count)
{
	struct epoch_store epoch = {.database = settings->database, .rewritten = program};
	_cleanup_free_ char *path = NULL;
	struct error err;
	int r = mode_store(&epoch, files, count, &path, &err);

	epoch_store_close(&epoch);
	if (r < 0)
		return fail(&err);
	if (r > 0 && !settings->quiet)
		fprintf(out, "%s of %zu process%s of %s: epoch %lld of %s\n", epoch.what,
			epoch.files, epoch.files == 1 ? "" : "es", path, (long long)epoch.id,
			settings->database);
	report_shared(epoch.shared);
	return r > 0 ? 0 : EXIT_NOTHING;
}

/* Store a recording in the database, or list its counts. */
static int take_counts(FILE *out, struct settings *settings, const char *program,
		       char *const *files, size_t count)
{
	struct counts_profile profile = {0};
	struct counts_map map = {0};
	struct error err;
	int r;

	if (settings->database != NULL)
		return store(out, settings, program, files, count);
	r = counts_map_read(&map, program, &err);
	for (size_t i = 0; r == 0 && i < count; i++)
		r = counts_profile_add(&profile, &map, files[i], &err);
	if (r == 0 && !settings->limited && settings->report.rows == COUNTS_PROCEDURES)
		settings->report.limit = settings->report.csv ? 0 : ROWS_DEFAULT;
	if (r == 0)
		r = counts_report_print(out, &map, &profile, &settings->report, &err);
	if (r > 0)
		report_shared(profile.shared);
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
	error_set(&err, EINVAL, "a rewritten program and the files that it recorded are required");
	return fail(&err);
}

/* --- run ------------------------------------------------------------------ */

/* The report goes to stderr: stdout belongs to the program that was run. */
static int run_reader(const char *reader, char **argv, struct error *err)
{
	char path[PROGRAM_PATH_BYTES];
	int status = 0;
	pid_t child;

	if (program_path_sibling(path, reader) < 0)
		return error_set(err, ENOENT, ERROR_FIND, reader);
	child = fork();
	if (child == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execv(path, argv);
		fprintf(stderr, "dcpix: cannot run '%s': %s\n", path, strerror(errno));
		_exit(EXIT_BAD);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return error_set_errno(err, ERROR_RUN, reader);
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_BAD;
}

/* Run the program that reports a recording of the mode. */
static int take_recorded(const struct settings *settings, const char *program, char *const *files,
			 size_t count)
{
	char **argv = calloc(count + 6, sizeof(*argv)), limit[24];
	struct error err;
	size_t used = 0;
	int status;

	if (argv == NULL)
		return EXIT_BAD;
	argv[used++] = (char *)(uintptr_t)settings->mode->reader;
	/* The whole context tree of a program may have thousands of lines. */
	snprintf(limit, sizeof(limit), "-n%lu",
		 settings->limited ? (unsigned long)settings->report.limit : ROWS_DEFAULT);
	if (settings->limited || !settings->report.csv)
		argv[used++] = limit;
	if (settings->report.csv)
		argv[used++] = (char *)(uintptr_t) "--csv";
	argv[used++] = (char *)(uintptr_t) "--";
	argv[used++] = (char *)(uintptr_t)program;
	memcpy(argv + used, files, count * sizeof(*argv));
	status = run_reader(settings->mode->reader, argv, &err);
	free(argv);
	return status < 0 ? fail(&err) : status;
}

/* @name: of a library; NULL: the program. Names of its files contain only a number after the
 *        prefix. */
static int report_image(struct settings *settings, const char *folder, const char *rewritten,
			const char *name)
{
	_cleanup_free_ char *pattern = NULL;
	glob_t found = {0};
	int status = EXIT_NOTHING, r;

	if (asprintf(&pattern, "%s/profile.%s%s[0-9]*", folder, name != NULL ? name : "",
		     name != NULL ? "." : "") < 0)
		return EXIT_BAD;
	r = glob(pattern, 0, NULL, &found);
	if (r == GLOB_NOMATCH)
		fprintf(stderr, "dcpix: %s recorded nothing: it could not create a file in '%s'\n",
			name != NULL ? name : "the program", folder);
	else if (r != 0)
		status = EXIT_BAD;
	else if (settings->mode->reader == NULL || settings->database != NULL)
		status = take_counts(stderr, settings, rewritten, found.gl_pathv, found.gl_pathc);
	else
		status = take_recorded(settings, rewritten, found.gl_pathv, found.gl_pathc);
	for (size_t i = 0; status != EXIT_BAD && i < found.gl_pathc; i++)
		unlink(found.gl_pathv[i]);
	globfree(&found);
	return status;
}

/* Return: EXIT_BAD; else the exit status of the program's report. */
static int report_run(struct settings *settings, const char *folder, const struct runnable *program,
		      const struct library_set *libraries)
{
	int status;

	if (!settings->quiet)
		runnable_print_report(program, stderr);
	status = report_image(settings, folder, program->path, NULL);
	for (size_t i = 0; status != EXIT_BAD && i < libraries->needed.count; i++) {
		const struct needed_library *library = &libraries->needed.all[i];
		const struct runnable *runnable = &libraries->runnables[i];

		if (runnable->path == NULL)
			continue;
		if (!settings->quiet || settings->database == NULL)
			fprintf(stderr, "\n%s:\n", library->path);
		if (!settings->quiet)
			runnable_print_report(runnable, stderr);
		if (report_image(settings, folder, runnable->path, library->name) == EXIT_BAD)
			status = EXIT_BAD;
	}
	return status;
}

/* Return: exit status as of a shell; EXIT_BAD if the recording was left in @folder. */
static int run_and_report(struct settings *settings, struct runnable *runnable,
			  struct library_set *libraries, const char *folder, char **argv)
{
	_cleanup_free_ char *prefix = NULL;
	struct error err;
	int status, reported;

	if (asprintf(&prefix, "%s/profile", folder) < 0)
		return EXIT_BAD;
	status = runnable_run(runnable, prefix, libraries->search, argv, &err);
	if (status < 0)
		return fail(&err);
	fflush(stdout);
	reported = report_run(settings, folder, runnable, libraries);
	if (reported == EXIT_BAD) {
		/* An error of the database must not make another run necessary. */
		fprintf(stderr, "dcpix: the recording of '%s' is in '%s'\n", runnable->path,
			folder);
		runnable_release(runnable);
		library_set_release(libraries);
		return EXIT_BAD;
	}
	return status != 0 ? status : reported;
}

static int check_run(const struct settings *settings, char *const *argv,
		     char program[PROGRAM_PATH_BYTES], struct error *err)
{
	int r = check_mode(settings, err);

	if (r < 0)
		return r;
	if (settings->library_count > 0 && settings->report.csv && settings->database == NULL)
		return error_set(err, EINVAL,
				 "--csv lists only one image: use --db to store counts of several");
	if (argv[0] == NULL)
		return error_set(err, EINVAL, "run needs a program");
	if (program_path_find(program, argv[0]) < 0)
		return error_set(err, ENOENT, ERROR_FIND, argv[0]);
	return 0;
}

/* Prepare everything that is run. A program or library that cannot be cached is made in @folder. */
static int prepare_run(struct runnable *runnable, struct library_set *libraries,
		       const struct settings *settings, const char *program, const char *folder,
		       struct error *err)
{
	struct rewriter_options options = {.secure = settings->secure,
					   .debug = settings->debug,
					   .mode = settings->mode,
					   .of_mode = settings->of_mode};
	_cleanup_free_ char *otherwise = NULL;
	int r = 0;

	if (asprintf(&otherwise, "%s/program", folder) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (settings->library_count > 0)
		r = library_set_get(libraries, program, settings->libraries,
				    settings->library_count, &options, folder, err);
	return r < 0 ? r : runnable_get(runnable, program, &options, otherwise, err);
}

static int dcpix_run(struct settings *settings, char **argv)
{
	struct runnable runnable = {.path = NULL};
	struct library_set libraries = {.search = NULL};
	char folder[] = "/tmp/dcpix.XXXXXX", program[PROGRAM_PATH_BYTES];
	struct error err;
	int status;

	if (check_run(settings, argv, program, &err) < 0)
		return fail(&err);
	if (mkdtemp(folder) == NULL) {
		error_set_errno(&err, "cannot create a folder in /tmp");
		return fail(&err);
	}
	if (prepare_run(&runnable, &libraries, settings, program, folder, &err) < 0)
		status = fail(&err);
	else
		status = run_and_report(settings, &runnable, &libraries, folder, argv);
	library_set_deinit(&libraries);
	runnable_deinit(&runnable);
	rmdir(folder); /* if it is empty */
	return status;
}

/* Process options. They may follow operands, except for those of a program that is run. */
static int options_take(struct settings *settings, struct options *options, int argc, char **argv)
{
	struct error err;
	int key;

	while ((key = options_next(options, argc, argv, &err)) >= 0) {
		if (key == OPTIONS_HELP) {
			options_help(stdout, options, synopsis,
				     "Rewrite executables so that they record their execution.");
			exit(0);
		}
		if (key == OPTIONS_VERSION) {
			options_version(stdout, options);
			exit(0);
		}
		if (dcpix_set_option(settings, key, &err) < 0)
			return fail(&err);
	}
	return key == OPTIONS_END ? 0 : fail(&err);
}

int main(int argc, char **argv)
{
	struct settings settings = {.mode = mode_table_find(NULL)};
	struct options options;
	struct error err;
	bool running = false;
	int status, count = 0;

	options_init(&options, "dcpix", true);
	options_add(&options, entries, sizeof(entries) / sizeof(*entries));
	do {
		status = options_take(&settings, &options, argc, argv);
		if (status != 0)
			return status;
		if (running)
			return dcpix_run(&settings, argv + optind);
		running = count == 0 && optind < argc && strcmp(argv[optind], "run") == 0;
		if (running)
			optind++;
		else if (optind < argc)
			argv[count++] = argv[optind++];
	} while (running || optind < argc);
	if (count > 0 && strcmp(argv[0], "counts") == 0)
		return counts(&settings, count - 1, argv + 1);
	if (count == 1)
		return rewrite(&settings, argv[0]);
	error_set(&err, EINVAL,
		  count == 0 ? "no program" ERROR_SEE_HELP("dcpix") : "more than one program");
	return fail(&err);
}
