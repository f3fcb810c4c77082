// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpicalc - for each instruction: execution frequency, time per execution, and stall reasons (DCPI
 * section 3.2, figures 2 and 4)
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/options.h"
#include "tools/annotate/calc_output.h"
#include "tools/annotate/calc_driver.h"
#include "tools/report/cli.h"
#include "tools/report/sandboxed.h"
#include "tools/report/source_text.h"
#include "tools/stacks/stack_callers.h"

enum {
	KEY_SUMMARY = CALC_METHOD_OWN,
	KEY_ALL,
	KEY_SOURCE,
	KEY_NO_SOURCE,
	KEY_EVIDENCE,
	KEY_WHY,
	KEY_DATA,
};

static const struct option_entry own_options[] = {
	{KEY_ALL, "all", NULL, "analyse all procedures with samples"},
	{KEY_SUMMARY, "summary", NULL, "print a summary of cycles by cause"},
	{KEY_WHY, "why", NULL, "print a short answer: how much time, why, how certain"},
	{'n', "limit", "N", "print only the N blocks with most samples"},
	{KEY_SOURCE, "source", NULL, "print source lines (default)"},
	{KEY_NO_SOURCE, "no-source", NULL, "omit source lines"},
	{KEY_EVIDENCE, "evidence", NULL, "list the evidence for the estimates"},
	{KEY_DATA, "data", NULL, "list the data that instructions access instead"},
	{'e', "event", "EVENT", "use this event as time: cycles, cpu-clock, ..."},
	CALC_METHOD_OPTIONS,
};

/* struct calc - options, and the state of the report */
struct calc {
	struct cli cli;
	bool all;
	bool summary;
	bool why;
	bool no_source;
	bool evidence;
	bool data;
	const char *event; /* NULL: the best one available */
	struct calc_method method;
	struct profile_reader *reader;
	struct calc_source source;
	struct calc_output output;
	struct stack_callers callers;
};

static int dcpicalc_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct calc *calc = context;
	int64_t number = 0;
	int r = 0;

	switch (key) {
	case 'e':
		calc->event = argument;
		break;
	case 'n':
		r = cli_number(argument, "number of blocks", &number, err);
		calc->cli.limit = (size_t)number;
		break;
	case KEY_ALL:
		calc->all = true;
		break;
	case KEY_SUMMARY:
		calc->summary = true;
		break;
	case KEY_SOURCE:
	case KEY_NO_SOURCE:
		calc->no_source = key == KEY_NO_SOURCE;
		break;
	case KEY_WHY:
		calc->why = true;
		break;
	case KEY_EVIDENCE:
		calc->evidence = true;
		break;
	case KEY_DATA:
		calc->data = true;
		break;
	default:
		return calc_method_set(&calc->method, key, argument, err);
	}
	return r;
}

static const struct cli_tool tool = {
	.name = "dcpicalc",
	.synopsis = "[OPTION]... [PROCEDURE|IMAGE:PROCEDURE|[IMAGE:]0xADDRESS]",
	.summary = "Print the executions, cycles and causes of stalls of each instruction of a "
		   "procedure; without an operand, of the hottest procedure.",
	.accepts = CLI_HEADER | CLI_PROFILER | CLI_IDLE | CLI_IMAGES | CLI_PID | CLI_EPOCHS |
		   CLI_FORMATS | CLI_SYMBOLS | CLI_SOURCES,
	.operands_max = 1,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpicalc_set_option,
};

static int dcpicalc_check_options(const struct calc *calc, struct error *err)
{
	if (calc->all && calc->cli.operand_count > 0)
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--all", "a procedure"));
	if (calc->why && (calc->all || calc->summary))
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--why", "%s"),
				 calc->all ? "--all" : "--summary");
	if (calc->data && calc->summary)
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--data", "--summary"));
	return calc_method_check(&calc->method, err);
}

static int callers_find(struct calc *calc, const struct calc_choice *choice, struct error *err)
{
	const struct stack_callers_wanted wanted = {
		.reader = calc->reader,
		.filter = &calc->cli.filter,
		.debug = &calc->cli.debug,
		.image = choice->image->id,
		.offset = calc_choice_offset(choice),
		.demangle = calc->cli.demangle,
	};

	calc->output.callers = &calc->callers;
	return stack_callers_find(&calc->callers, &wanted, err);
}

static int analyse_one(struct calc *calc, struct calc_driver *walk, struct error *err)
{
	_cleanup_(calc_choice_deinit) struct calc_choice choice = {0};
	int r = calc_source_choose(&choice, &calc->source, &calc->cli, err);

	if (r == 0)
		r = callers_find(calc, &choice, err);
	return r == 0 ? calc_driver_one(walk, &choice, err) : r;
}

static int take_image(void *context, const struct calc_choice *choice,
		      const struct machine_model *model)
{
	return calc_output_image(context, choice, model);
}

static int fail(const struct calc *calc, int r, const struct error *err)
{
	if (r == -ENOENT && calc->reader != NULL)
		return cli_nothing(&calc->cli, "%s", err->message);
	return cli_fail(&calc->cli, err);
}

static int dcpicalc_run(struct calc *calc, struct source_text *source)
{
	struct calc_driver walk = {
		.cli = &calc->cli,
		.source = &calc->source,
		.method = calc->method,
		.image = take_image,
		.procedure = calc_output_procedure,
		.context = &calc->output,
		.progress = calc->summary || !calc->cli.terminal,
		.doubtful = true,
	};
	struct error err = {0};
	int r = dcpicalc_check_options(calc, &err), status = CLI_OK;

	/* The paper's tools have no such classes. */
	if (calc->method.as_published)
		calc->cli.include = (struct included_samples){.profiler = true, .idle = true};
	calc_source_exclude(&calc->source, &calc->cli, CALC_PROFILER_NO_SHARE);
	if (r == 0)
		r = calc_source_open(&calc->source, &calc->reader, &calc->cli, calc->event, &err);
	if (r < 0)
		return fail(calc, r, &err);
	calc->source.select.counts = calc_method_counts(&calc->method);
	calc->output = (struct calc_output){
		.json = calc->cli.format == CLI_JSON,
		.summary = calc->summary,
		.why = calc->why,
		.together = calc->all,
		.evidence = calc->evidence || (calc->data && calc->cli.format == CLI_JSON),
		.data = calc->data,
		.brief = calc->cli.brief,
		.demangle = calc->cli.demangle,
		.listing = {.color = calc->cli.color,
			    .width = calc->cli.width,
			    .blocks = calc->cli.limit,
			    .halves = calc->method.as_published,
			    .source = source},
		.header = &calc->source.header,
		.events = &calc->source.events,
		.all_samples = (double)calc->source.images.time,
		.probes = calc->source.select.probes,
		.include = calc->cli.include,
	};
	if (calc->all)
		status = calc_driver_run(&walk);
	else
		r = analyse_one(calc, &walk, &err);
	calc_output_end(&calc->output);
	if (r < 0)
		return fail(calc, r, &err);
	return cli_finish_output(&err) < 0 ? cli_fail(&calc->cli, &err) : status;
}

int main(int argc, char **argv)
{
	struct calc calc = {0};
	struct source_text *source = NULL;
	int status = cli_parse(&calc.cli, &tool, argc, argv, &calc);

	if (status == CLI_RUN)
		status = sandboxed_start(&calc.cli, NULL);
	if (status == CLI_RUN) {
		if (!calc.no_source)
			source = source_text_create(&calc.cli.sources);
		status = dcpicalc_run(&calc, source);
	}
	stack_callers_deinit(&calc.callers);
	source_text_destroy(source);
	calc_source_deinit(&calc.source);
	profile_reader_close(calc.reader);
	cli_deinit(&calc.cli);
	return status;
}
