/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line that all tools share: options, help, errors, exit status.
 *
 * A tool says which of the common options it takes and adds its own; one table
 * drives parsing and help.
 */
#ifndef DCPI_CLI_H
#define DCPI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/image/debug_file.h"
#include "db/profile_read.h"
#include "tools/report/epoch_list.h"
#include "tools/report/source_text.h"

struct error;
struct option_entry;

#define CLI_DATABASE_DEFAULT "/var/lib/dcpi/dcpi.db"
/* Where dcpirun writes by default. */
#define CLI_DATABASE_OF_RUN "dcpirun.db"

/* Exit status of all tools. */
#define CLI_OK 0
#define CLI_NOTHING 1
#define CLI_FAILED 2
/* Of cli_parse(): go on. */
#define CLI_RUN (-1)

/* Common options a tool may take; --help, --version and --db it has anyway. */
#define CLI_EVENTS 0x001U    /* -e, --event */
#define CLI_BY_IMAGE 0x002U  /* --by-image */
#define CLI_PID 0x004U	     /* --pid, --unit, --container */
#define CLI_EPOCHS 0x008U    /* --epoch, --since, --until, --host */
#define CLI_LIMIT 0x010U     /* -n, --limit */
#define CLI_SORT 0x020U	     /* --sort */
#define CLI_FORMATS 0x040U   /* --json, --no-color */
#define CLI_SYMBOLS 0x080U   /* --debug-dir, --debuginfod, --no-demangle */
#define CLI_IMAGES 0x100U    /* -i, --image */
#define CLI_TABLE 0x200U     /* --csv */
#define CLI_DATABASES 0x400U /* --db more than once */
#define CLI_SOURCES 0x800U   /* --source-path, --substitute-path */
#define CLI_PROFILER 0x4000U /* --include-profiler */
#define CLI_NAMES 0x2000U    /* --no-demangle, without the rest of CLI_SYMBOLS */

/* Ends a message about missing samples where a report leaves some out. */
#define CLI_PROFILER_HINT "; --include-profiler counts the profiler's own"

enum cli_format {
	CLI_TEXT,
	CLI_JSON,
	CLI_CSV
};

/**
 * struct cli - what was asked for
 * @database:    path
 * @databases:   all that were named, or @database alone
 * @events:      names, in the order given; none: all there are
 * @filter:      since, until, host, pid, unit and container; epochs are added by
 *               cli_select_epochs()
 * @image:       pattern that the path of an image or its last part matches, as
 *               for fnmatch(3), or NULL
 * @include_profiler: samples that profiling causes count in shares and comparisons
 * @limit:       rows to print; 0: all
 * @sort:        name of a column, or NULL
 * @sources:     where source files are
 * @debug:       where code and symbols may be; its image store is that of @database
 * @color:       whether output may have escape sequences
 * @width:       of the terminal; where output goes elsewhere what COLUMNS says, or 0
 * @accepts:     CLI_* of the tool
 * @terminal:    standard output is one; the process itself may print into a pipe (sandboxed.h)
 * @operands:    arguments that are no options, @operand_count of them
 *
 * Strings are the command line's, but for @events and the image store; freed by
 * cli_deinit().
 */
struct cli {
	const char *tool;
	const char *database;
	const char **databases;
	size_t database_count;
	char **events;
	size_t event_count;
	bool by_image;
	bool include_profiler;
	struct profile_filter filter;
	struct epoch_list epochs;
	const char *image;
	size_t limit;
	const char *sort;
	enum cli_format format;
	struct source_paths sources;
	struct debug_file_options debug;
	bool demangle;
	bool color;
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
 * @name:         as users call it
 * @synopsis:     what follows the name in the usage line
 * @summary:      what it does, one line
 * @accepts:      CLI_*
 * @operands_max: arguments besides options that it takes
 * @options:      its own (lib/options.h), @option_count of them; keys above 1000 or letters
 * @set:          takes them. Return: 0 or -errno with @err set
 */
struct cli_tool {
	const char *name;
	const char *synopsis;
	const char *summary;
	unsigned int accepts;
	size_t operands_max;
	const struct option_entry *options;
	size_t option_count;
	int (*set)(void *context, int key, const char *argument, struct error *err);
};

/**
 * cli_trust() - trust the owner of a database, and no other user, with the files of its images
 * @debug: out
 */
void cli_trust(struct debug_file_options *debug, const char *database);

/**
 * cli_parse() - read the command line
 * @cli:     out
 * @context: for @tool->set
 *
 * Prints help, version and errors itself.
 *
 * Return: CLI_RUN, or the status to exit with.
 */
int cli_parse(struct cli *cli, const struct cli_tool *tool, int argc, char **argv, void *context);

void cli_deinit(struct cli *cli);

/** cli_fail() - print an error as "tool: message". Return: CLI_FAILED. */
int cli_fail(const struct cli *cli, const struct error *err);

/** cli_nothing() - say that nothing was found, likewise. Return: CLI_NOTHING. */
int cli_nothing(const struct cli *cli, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/**
 * cli_no_samples() - likewise, by what the options ask for
 * @what:      "samples", say
 * @otherwise: what to say if they ask for nothing that there may be none of
 */
int cli_no_samples(const struct cli *cli, const char *what, const char *otherwise);

/**
 * cli_open() - open the database that the command line names, take a snapshot, and select
 * epochs
 * @reader: out: closed by the caller, also after a failure
 *
 * Return: as of cli_open_path() and cli_select_epochs().
 */
int cli_open(struct cli *cli, struct profile_reader **reader, struct error *err);

/**
 * cli_open_path() - the first two, of any database
 *
 * Return: as of profile_reader_open(). If it is the machine's and there is none, but dcpirun
 * left one in the working directory, the message says so: it is never read unasked.
 */
int cli_open_path(struct profile_reader **reader, const char *path, struct error *err);

/**
 * cli_select_epochs() - add the epochs that --epoch asks for to the filter
 *
 * "last" is the one that began last among those that the rest of the filter
 * selects. The filter then points into @cli.
 *
 * Return: 0; -ENOENT there is no such epoch; or the reader's error.
 */
int cli_select_epochs(struct cli *cli, struct profile_reader *reader, struct error *err);

/** cli_number() - parse a whole number > 0. Return: 0 or -EINVAL. */
int cli_number(const char *text, const char *what, int64_t *ret, struct error *err);

/** cli_real() - parse a number, @low <= it <= @high. Return: 0 or -EINVAL. */
int cli_real(const char *text, const char *what, double low, double high, double *ret,
	     struct error *err);

/** cli_finish_output() - flush stdout. Return: 0, or -errno if it could not all be written. */
int cli_finish_output(struct error *err);

#endif
