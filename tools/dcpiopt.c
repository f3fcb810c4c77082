// SPDX-License-Identifier: GPL-2.0-only
/* dcpiopt - use profiles to make programs faster */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "lib/options.h"
#include "tools/opt/opt_install.h"
#include "tools/opt/opt_measure.h"
#include "tools/opt/opt_prepare.h"
#include "tools/opt/opt_ranked.h"
#include "tools/opt/rank_listing.h"
#include "tools/report/sandboxed.h"

#define GAIN_LEAST_PERCENT 1.0

enum {
	KEY_LEAST = 1001,
	KEY_FOR,
	KEY_FOLDER,
	KEY_PAIRS,
	KEY_REPLACE,
	KEY_FORCE,
};

static const struct option_entry own_options[] = {
	{KEY_LEAST, "least", "PERCENT", "rank: smaller gains are not worth it (1)"},
	{KEY_FOR, "for", "OPTIMIZER", "prepare: bolt (default), autofdo or order"},
	{KEY_FOLDER, "folder", "DIR", "prepare: write to DIR (NAME.opt)"},
	{KEY_PAIRS, "pairs", "N", "measure: N pairs of runs (10)"},
	{KEY_REPLACE, "replace", NULL, "install: in place of the original"},
	{KEY_FORCE, "force", NULL, "install: also without a measured gain"},
};

/* struct opt - options */
struct opt {
	struct cli cli;
	double least;
	enum opt_prepare_for what;
	const char *folder;
	unsigned int pairs;
	bool replace;
	bool force;
};

static int set_least(struct opt *opt, const char *argument, struct error *err)
{
	char *end;

	opt->least = strtod(argument, &end);
	if (*argument == '\0' || *end != '\0' || !(opt->least >= 0 && opt->least <= 100))
		return error_set(err, EINVAL, ERROR_NOT_VALID, argument, "percentage");
	return 0;
}

static int set_pairs(struct opt *opt, const char *argument, struct error *err)
{
	size_t pairs;

	if (options_rows(argument, &pairs, NULL) < 0 || pairs < OPT_PAIRS_MIN ||
	    pairs > OPT_PAIRS_MAX)
		return error_set(err, EINVAL, "'%s' is not a number of pairs, %d to %d", argument,
				 OPT_PAIRS_MIN, OPT_PAIRS_MAX);
	opt->pairs = (unsigned int)pairs;
	return 0;
}

static int dcpiopt_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct opt *opt = context;

	switch (key) {
	case KEY_LEAST:
		return set_least(opt, argument, err);
	case KEY_FOR:
		return opt_prepare_for_parse(&opt->what, argument, err);
	case KEY_PAIRS:
		return set_pairs(opt, argument, err);
	case KEY_FOLDER:
		opt->folder = argument;
		return 0;
	case KEY_REPLACE:
		opt->replace = true;
		return 0;
	default:
		opt->force = true;
		return 0;
	}
}

static const struct cli_tool tool = {
	.name = "dcpiopt",
	.synopsis = "[OPTION]... rank | prepare [PROGRAM] | check DIR [-- COMMAND] | "
		    "measure DIR -- COMMAND | install DIR | rollback DIR",
	.summary =
		"Make programs faster by their profiles.\n\n"
		"rank lists images by the time that another layout of the code can save. prepare "
		"writes an optimised copy, of PROGRAM or of the first images of the ranking. check "
		"and measure run COMMAND, in which {} stands for "
		"the program, with the original and with the copy. Only install changes files "
		"outside of DIR.",
	.accepts = CLI_IMAGES | CLI_EPOCHS | CLI_PID | CLI_LIMIT | CLI_SORT | CLI_FORMATS |
		   CLI_TABLE | CLI_SYMBOLS,
	.operands_max = 10000,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpiopt_set_option,
};

static int rank_print(struct opt *opt, struct calc_source *source, const struct calc_driver *walk)
{
	struct rank_listing *listing = walk->context;
	struct report report;
	struct error err;

	listing->least = opt->least;
	listing->all_samples = (double)source->images.time;
	listing->period = source->images.mean_period;
	listing->event = source->events.time;
	if (rank_listing_finish(listing, opt->cli.sort, opt->cli.limit, &err) < 0)
		return cli_fail(&opt->cli, &err);
	report = rank_listing_report(listing);
	if (report.table.row_count == 0)
		return cli_nothing(&opt->cli, "no image has enough samples");
	report.header = &source->header;
	return report_print(&report, &opt->cli, &err) < 0 ? cli_fail(&opt->cli, &err) : CLI_OK;
}

static int rank_run(struct opt *opt)
{
	struct rank_listing listing = {.least = 0};
	struct calc_source source = {.profiler = CALC_PROFILER_REMOVED};
	struct profile_reader *reader = NULL;
	struct calc_driver walk = {
		.cli = &opt->cli,
		.source = &source,
		.plan = CALC_PLAN_DEFAULT,
		.image = rank_listing_image,
		.procedure = rank_listing_procedure,
		.context = &listing,
		.progress = true,
	};
	struct error err = {0};
	int status, r = calc_source_open(&source, &reader, &opt->cli, NULL, &err);

	source.select.counts = true;
	source.select.files = true;
	if (r == -ENOENT && reader != NULL)
		status = cli_nothing(&opt->cli, "%s", err.message);
	else
		status = r < 0 ? cli_fail(&opt->cli, &err) : calc_driver_run(&walk);
	if (status == CLI_OK)
		status = rank_print(opt, &source, &walk);
	rank_listing_deinit(&listing);
	calc_source_deinit(&source);
	profile_reader_close(reader);
	return status;
}

static int fail_arguments(const struct cli *cli, const char *command)
{
	struct error err;

	error_set(&err, EINVAL, "'%s' needs more arguments" ERROR_SEE_HELP("%s"), command,
		  "dcpiopt");
	return cli_fail(cli, &err);
}

static int run_rank(struct opt *opt)
{
	int status = sandboxed_start(&opt->cli, NULL);

	return status == CLI_RUN ? rank_run(opt) : status;
}

/* In a child process: print the ranking for opt_ranked_prepare(). */
static int rank_json(void *context)
{
	struct opt opt = *(const struct opt *)context;

	opt.cli.format = CLI_JSON;
	opt.cli.limit = 0;
	opt.cli.terminal = false;
	return run_rank(&opt);
}

static int run_prepare(struct opt *opt)
{
	if (opt->cli.operand_count == 1 && opt->what == OPT_PREPARE_BOLT)
		return opt_ranked_prepare(&opt->cli, rank_json, opt, opt->folder);
	if (opt->cli.operand_count == 1)
		return fail_arguments(&opt->cli, "prepare");
	return opt_prepare(&opt->cli, opt->what, opt->cli.operands[1], opt->folder);
}

static int run_check(struct opt *opt)
{
	return opt_check(&opt->cli, opt->cli.operands[1], opt->cli.operands + 2,
			 opt->cli.operand_count - 2);
}

static int run_measure(struct opt *opt)
{
	return opt_measure(&opt->cli, opt->cli.operands[1], opt->cli.operands + 2,
			   opt->cli.operand_count - 2, opt->pairs);
}

static int run_install(struct opt *opt)
{
	return opt_install(&opt->cli, opt->cli.operands[1], opt->replace, opt->force);
}

static int run_rollback(struct opt *opt)
{
	return opt_rollback(&opt->cli, opt->cli.operands[1]);
}

/* struct command - @least, @most: number of operands, with the command's name */
struct command {
	const char *name;
	size_t least;
	size_t most;
	int (*run)(struct opt *opt);
};

static const struct command commands[] = {
	{"rank", 1, 1, run_rank},	   {"prepare", 1, 2, run_prepare},
	{"check", 2, SIZE_MAX, run_check}, {"measure", 3, SIZE_MAX, run_measure},
	{"install", 2, 2, run_install},	   {"rollback", 2, 2, run_rollback},
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static int run_command(struct opt *opt)
{
	const struct cli *cli = &opt->cli;
	const char *names[COMMANDS];
	struct error err;

	for (size_t i = 0; i < COMMANDS; i++) {
		const struct command *command = &commands[i];

		names[i] = command->name;
		if (cli->operand_count == 0 || strcmp(cli->operands[0], command->name) != 0)
			continue;
		if (cli->operand_count >= command->least && cli->operand_count <= command->most)
			return command->run(opt);
		if (cli->operand_count > command->most)
			error_set(&err, EINVAL, ERROR_UNEXPECTED_ARGUMENT("%s"),
				  cli->operands[command->most], "dcpiopt");
		else
			return fail_arguments(cli, command->name);
		return cli_fail(cli, &err);
	}
	if (cli->operand_count == 0)
		error_set(&err, EINVAL, "a command is required" ERROR_SEE_HELP("%s"), "dcpiopt");
	else
		near_names_unknown(&err, "command", cli->operands[0], names, COMMANDS);
	return cli_fail(cli, &err);
}

int main(int argc, char **argv)
{
	struct opt opt = {.least = GAIN_LEAST_PERCENT, .pairs = OPT_PAIRS_DEFAULT};
	int status = cli_parse(&opt.cli, &tool, argc, argv, &opt);

	if (status == CLI_RUN)
		status = run_command(&opt);
	cli_deinit(&opt.cli);
	return status;
}
