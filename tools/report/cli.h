/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line common to all tools: options, help, errors, exit status.
 *
 * A tool declares which of the common options it takes and adds its own; one table determines
 * parsing and help.
 */
#ifndef DCPI_CLI_H
#define DCPI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/image/debug_file.h"
#include "db/profile_read.h"
#include "tools/report/epoch_list.h"
#include "tools/report/profiler_class.h"
#include "tools/report/source_text.h"

struct error;
struct option_entry;

#define CLI_DATABASE_DEFAULT "/var/lib/dcpi/dcpi.db"
/* Default output path of dcpirun. */
#define CLI_DATABASE_OF_RUN "dcpirun.db"

/* Exit status of all tools. */
#define CLI_OK 0
#define CLI_NOTHING 1
#define CLI_FAILED 2
/* Result of cli_parse(): continue. */
#define CLI_RUN (-1)

/* Common options that a tool may take; all tools take --help, --version and --db. */
#define CLI_EVENTS 0x001U    /* -e, --event */
#define CLI_BY_IMAGE 0x002U  /* --by-image */
#define CLI_PID 0x004U	     /* --pid, --unit, --container */
#define CLI_EPOCHS 0x008U    /* --epoch, --since, --until, --last, --host */
#define CLI_LIMIT 0x010U     /* -n, --limit */
#define CLI_SORT 0x020U	     /* --sort */
#define CLI_FORMATS 0x040U   /* --json, --no-color */
#define CLI_SYMBOLS 0x080U   /* --debug-dir, --debuginfod, --no-demangle */
#define CLI_IMAGES 0x100U    /* -i, --image */
#define CLI_TABLE 0x200U     /* --csv */
#define CLI_DATABASES 0x400U /* --db more than once */
#define CLI_SOURCES 0x800U   /* --source-path, --substitute-path */
#define CLI_PROFILER 0x4000U /* --include-profiler */
#define CLI_FROM 0x1000U     /* --from */
#define CLI_NAMES 0x2000U    /* --no-demangle, without the rest of CLI_SYMBOLS */

/* Reports with a header also take --header, --brief. */
#define CLI_HEADER 0x8000U

#define CLI_IDLE 0x10000U /* --idle */

/* Appended to messages about missing samples if a report excludes some. */
#define CLI_PROFILER_HINT "; --include-profiler includes those of the profiler"
#define CLI_IDLE_HINT "; --idle includes those of waiting for work"

enum cli_format {
	CLI_TEXT,
	CLI_JSON,
	CLI_CSV
};

/**
 * struct cli - options and operands of the command line
 * @database:  path
 * @databases: all databases that were named, or @database alone
 * @from:      engine that the samples are copied from, NULL: none; @fetch_by: what dcpifetch keeps
 *             apart: "events", "host" or "epoch"
 * @events:    names, in the order given; empty: all events
 * @filter:    since, until, host, pid, unit and container; epochs are added by cli_select_epochs()
 * @last_ns:   length of the time to select at the end of the data, 0: any; @last_of: the database
 *             that it was converted to @filter for
 * @image:     pattern that the path of an image or its last part matches, as for fnmatch(3), or
 *             NULL
 * @include:   samples that count in shares and comparisons
 * @inlines:   inlined functions are frames of call stacks; set by tools
 * @limit:     rows to print; 0: all
 * @sort:      name of a column, or NULL
 * @sources:   location of source files
 * @debug:     locations of code and symbols; its image store is that of @database
 * @color:     output may contain escape sequences
 * @width:     columns that rows may have: COLUMNS, else those of the terminal; 0: any number
 * @brief:     print the header as one line; the default on a terminal
 * @accepts:   CLI_* of the tool
 * @terminal:  standard output is a terminal; the process itself may print into a pipe (sandboxed.h)
 * @operands:  arguments that are not options, @operand_count of them
 *
 * Strings point into the command line, except @events and the image store; freed by cli_deinit().
 */
struct cli {
	const char *tool;
	const char *database;
	const char **databases;
	size_t database_count;
	const char *from;
	const char *fetch_by;
	char **events;
	size_t event_count;
	bool by_image;
	struct included_samples include;
	bool inlines;
	struct profile_filter filter;
	struct epoch_list epochs;
	int64_t last_ns;
	const struct profile_reader *last_of;
	const char *image;
	size_t limit;
	const char *sort;
	enum cli_format format;
	struct source_paths sources;
	struct debug_file_options debug;
	bool demangle;
	bool color;
	bool brief;
	size_t width;
	char **operands;
	size_t operand_count;
	int64_t *selected;
	char *image_store;
	char *symbol_cache;
	unsigned int accepts;
	bool terminal;
};

/**
 * struct cli_tool - a tool
 * @name:         its command name
 * @synopsis:     text after the name in the usage line
 * @summary:      purpose of the tool, one line
 * @accepts:      CLI_*
 * @fetch_by:     as in struct cli; NULL: "events"
 * @operands_max: maximum number of arguments that are not options
 * @options:      its own (lib/options.h), @option_count of them; keys above 1000 or letters
 * @set:          handles one of @options. Return: 0 or -errno with @err set
 */
struct cli_tool {
	const char *name;
	const char *synopsis;
	const char *summary;
	unsigned int accepts;
	const char *fetch_by;
	size_t operands_max;
	const struct option_entry *options;
	size_t option_count;
	int (*set)(void *context, int key, const char *argument, struct error *err);
};

/**
 * cli_trust() - trust the owner of a database, and no other user, for the files of its images
 * @debug: out
 */
void cli_trust(struct debug_file_options *debug, const char *database);

/**
 * cli_parse() - parse the command line
 * @cli:     out
 * @context: for @tool->set
 *
 * Prints help, version and errors itself.
 *
 * Return: CLI_RUN, or the status to exit with.
 */
int cli_parse(struct cli *cli, const struct cli_tool *tool, int argc, char **argv, void *context);

void cli_deinit(struct cli *cli);

/** cli_fail() - print an error as "tool: message". Return: CLI_FAILED */
int cli_fail(const struct cli *cli, const struct error *err);

/** cli_nothing() - print as "tool: message" that nothing was found. Return: CLI_NOTHING */
int cli_nothing(const struct cli *cli, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * cli_no_samples() - report that no samples were found, with the options that may be the reason
 * @what:      "samples", for example
 * @otherwise: message if no option restricts the samples
 *
 * Return: CLI_NOTHING; CLI_FAILED if an option names an image that does not exist.
 */
int cli_no_samples(const struct cli *cli, const char *what, const char *otherwise);

/**
 * cli_image_missing() - describe that nothing was found in the images that a pattern selects
 * @what: "samples", for example
 *
 * Return: -EINVAL: no image of the database matches, near names are suggested; -ENOENT: an image
 * matches; or the reader's error.
 */
int cli_image_missing(struct profile_reader *reader, const char *what, const char *pattern,
		      struct error *err);

/**
 * cli_no_image() - cli_image_missing() for --image in all databases, printed
 * @hint: appended if an image matches
 *
 * Return: CLI_NOTHING if an image matches, CLI_FAILED otherwise.
 */
int cli_no_image(const struct cli *cli, const char *what, const char *hint);

/**
 * cli_open() - open the database that the command line names, take a snapshot, and select epochs
 * @reader: out: closed by the caller, also after a failure
 *
 * Return: as of cli_open_path() and cli_select_epochs().
 */
int cli_open(struct cli *cli, struct profile_reader **reader, struct error *err);

/**
 * cli_open_path() - open any database and take a snapshot
 *
 * Return: as of profile_reader_open(). If the default database is missing, but dcpirun left one in
 * the working directory, the message mentions it: such a database is only read if it is named.
 */
int cli_open_path(struct profile_reader **reader, const char *path, struct error *err);

/**
 * cli_select_epochs() - add the epochs that --epoch requests to the filter
 *
 * "last" is the epoch that began last among those that the rest of the filter selects. The filter
 * then points into @cli.
 *
 * Return: 0; as of cli_no_epoch(); or the reader's error.
 */
int cli_select_epochs(struct cli *cli, struct profile_reader *reader, struct error *err);

/**
 * cli_no_epoch() - describe that the command line selects no epoch
 *
 * Return: -EINVAL: no epoch of the database has the host or the number, and the message has those
 * that exist; -ENOENT otherwise; or the reader's error.
 */
int cli_no_epoch(const struct cli *cli, struct profile_reader *reader, struct error *err);

/** cli_number() - parse an integer > 0. Return: 0 or -EINVAL */
int cli_number(const char *text, const char *what, int64_t *ret, struct error *err);

/** cli_real() - parse a number in the range @low .. @high. Return: 0 or -EINVAL */
int cli_real(const char *text, const char *what, double low, double high, double *ret,
	     struct error *err);

/** cli_finish_output() - flush stdout. Return: 0, or -errno if output could not be written */
int cli_finish_output(struct error *err);

#endif
