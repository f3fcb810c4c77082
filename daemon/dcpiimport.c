// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpiimport: import perf.data files as epochs of a profile database.
 *
 * It writes to the database like the daemon and dcpirun: it collects samples, from a recording.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "daemon/base/log.h"
#include "daemon/import/import.h"
#include "db/profile_write.h"
#include "lib/error.h"
#include "lib/options.h"

#define EXIT_NOTHING 1
#define EXIT_BAD 2

/* struct settings - values of the command line. */
struct settings {
	const char *db;
	const char *label;
	bool quiet;
};

enum {
	OPTION_DB = 256,
	OPTION_LABEL,
};

static const struct option_entry entries[] = {
	{OPTION_DB, "db", "FILE",
	 "write this database (dcpiimport.db); each recording adds an epoch"},
	{OPTION_LABEL, "label", "TEXT", "store TEXT with the epochs (perf's command line)"},
	{'q', "quiet", NULL, "omit the summary"},
};

/* Return: -1 to continue, otherwise the exit status. */
static int dcpiimport_options_parse(struct settings *settings, int argc, char **argv)
{
	struct options options;
	struct error err;
	int key;

	options_init(&options, "dcpiimport", false);
	options_add(&options, entries, sizeof(entries) / sizeof(*entries));
	while ((key = options_next(&options, argc, argv, &err)) >= 0) {
		switch (key) {
		case OPTION_DB:
			settings->db = optarg;
			break;
		case OPTION_LABEL:
			settings->label = optarg;
			break;
		case 'q':
			settings->quiet = true;
			break;
		case OPTIONS_HELP:
			options_help(
				stdout, &options, "[OPTION]... [FILE]...",
				"Import recordings of perf record (perf.data; -: standard input).");
			return 0;
		default:
			options_version(stdout, &options);
			return 0;
		}
	}
	if (key == OPTIONS_END)
		return -1;
	log_error("%s", err.message);
	return EXIT_BAD;
}

static void unfiltered_warn(const struct import_result *result)
{
	static bool warned;

	if (result->unfiltered && !warned)
		log_info("warning: seccomp is not available; recordings are parsed without a "
			 "sandbox");
	warned |= result->unfiltered;
}

static void summary_print(const struct settings *settings, const char *path,
			  const struct import_result *result)
{
	if (result->cut_off)
		log_info("'%s' is truncated: perf was killed, or a disk was full", path);
	if (result->late > 0)
		log_info("'%s': %llu records were too late to be matched in order", path,
			 (unsigned long long)result->late);
	if (settings->quiet)
		return;
	fprintf(stderr, "dcpiimport: %s: %llu samples, %llu lost, %llu unknown", settings->db,
		(unsigned long long)result->samples, (unsigned long long)result->lost,
		(unsigned long long)result->unknown);
	if (result->stacks > 0)
		fprintf(stderr, ", %llu stacks, %llu complete", (unsigned long long)result->stacks,
			(unsigned long long)result->complete);
	if (result->branches > 0)
		fprintf(stderr, ", %llu branch records", (unsigned long long)result->branches);
	fprintf(stderr, " (epoch %lld)\n", (long long)result->epoch);
}

/* Return: exit status. */
static int import_all(const struct settings *settings, struct profile_writer *writer,
		      char *const *files, size_t count)
{
	int status = 0;

	for (size_t i = 0; i < count; i++) {
		struct import_result result;
		struct error err;
		int r = import_file(writer, files[i], settings->label, &result, &err);

		unfiltered_warn(&result);
		if (r == 0) {
			summary_print(settings, files[i], &result);
			continue;
		}
		log_error("%s", err.message);
		if (r != -ENODATA)
			return EXIT_BAD;
		status = EXIT_NOTHING;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct settings settings = {.db = "dcpiimport.db"};
	struct profile_writer *writer = NULL;
	static char usual[] = "perf.data";
	char *const fallback[] = {usual};
	struct error err;
	int status;

	log_init("dcpiimport");
	status = dcpiimport_options_parse(&settings, argc, argv);
	if (status >= 0)
		return status;
	if (profile_writer_open(&writer, settings.db, &err) < 0) {
		log_error("%s", err.message);
		return EXIT_BAD;
	}
	status = optind < argc
			 ? import_all(&settings, writer, argv + optind, (size_t)(argc - optind))
			 : import_all(&settings, writer, fallback, 1);
	profile_writer_close(writer);
	return status;
}
