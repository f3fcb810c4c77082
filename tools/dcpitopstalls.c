// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpitopstalls - the instructions with the most stall time, and the reasons (named in DCPI section
 * 3)
 */
#include <errno.h>

#include "lib/error.h"
#include "lib/options.h"
#include "tools/report/sandboxed.h"
#include "tools/annotate/stall_listing.h"

#define ROWS 20

enum {
	KEY_MIN_SAMPLES = CALC_METHOD_OWN,
};

static const struct option_entry own_options[] = {
	{'n', "limit", "N", "print the N worst instructions (20)"},
	{'e', "event", "EVENT", "use this event as time: cycles, cpu-clock, ..."},
	CALC_PLAN_OPTION(KEY_MIN_SAMPLES),
	CALC_METHOD_OPTIONS,
};

/* struct topstalls - options, and the state of the report */
struct topstalls {
	struct cli cli;
	const char *event; /* NULL: the best one available */
	struct calc_method method;
	struct calc_plan plan;
	struct profile_reader *reader;
	struct calc_source source;
	struct stall_listing listing;
};

static int dcpitopstalls_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct topstalls *top = context;
	int64_t number = 0;
	int r;

	if (key == 'e') {
		top->event = argument;
		return 0;
	}
	if (key == KEY_MIN_SAMPLES)
		return calc_plan_set(&top->plan, argument, err);
	if (key != 'n')
		return calc_method_set(&top->method, key, argument, err);
	r = cli_number(argument, "number of instructions", &number, err);
	top->listing.limit = (size_t)number;
	return r;
}

static const struct cli_tool tool = {
	.name = "dcpitopstalls",
	.synopsis = "[OPTION]...",
	.summary = "List the instructions with the longest stalls in all samples, and the causes.",
	.accepts = CLI_HEADER | CLI_IMAGES | CLI_PID | CLI_EPOCHS | CLI_FORMATS | CLI_TABLE |
		   CLI_SYMBOLS | CLI_PROFILER | CLI_IDLE,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpitopstalls_set_option,
};

static int topstalls_print(struct topstalls *top, const struct calc_driver *walk)
{
	struct report report;
	struct error err;

	top->listing.rest = walk->rest;
	stall_listing_finish(&top->listing);
	report = stall_listing_report(&top->listing);
	if (report.table.row_count == 0)
		return cli_nothing(&top->cli, "no significant stall: static time and sampling "
					      "error can explain the samples");
	report.header = &top->source.header;
	return report_print(&report, &top->cli, &err) < 0 ? cli_fail(&top->cli, &err) : CLI_OK;
}

static int dcpitopstalls_run(struct topstalls *top)
{
	struct calc_driver walk = {
		.cli = &top->cli,
		.source = &top->source,
		.method = top->method,
		.plan = top->plan,
		.image = stall_listing_image,
		.procedure = stall_listing_procedure,
		.context = &top->listing,
		.doubtful = top->method.as_published,
		.progress = true,
	};
	struct error err = {0};
	int r = calc_method_check(&top->method, &err);
	int status;

	/* The paper's tools analysed every procedure with samples. */
	if (top->method.as_published)
		walk.plan = (struct calc_plan){0};
	if (!top->method.as_published)
		calc_source_exclude(&top->source, &top->cli, CALC_PROFILER_REMOVED);
	if (r == 0)
		r = calc_source_open(&top->source, &top->reader, &top->cli, top->event, &err);
	if (r == -ENOENT && top->reader != NULL)
		return cli_nothing(&top->cli, "%s", err.message);
	if (r < 0)
		return cli_fail(&top->cli, &err);
	top->source.select.counts = calc_method_counts(&top->method);
	top->listing.demangle = top->cli.demangle;
	top->listing.events = &top->source.events;
	top->listing.all_samples = (double)top->source.images.time;
	status = calc_driver_run(&walk);
	return status == CLI_OK ? topstalls_print(top, &walk) : status;
}

int main(int argc, char **argv)
{
	struct topstalls top = {.plan = CALC_PLAN_DEFAULT, .listing = {.limit = ROWS}};
	int status = cli_parse(&top.cli, &tool, argc, argv, &top);

	if (status == CLI_RUN)
		status = sandboxed_start(&top.cli, NULL);
	if (status == CLI_RUN)
		status = dcpitopstalls_run(&top);
	stall_listing_deinit(&top.listing);
	calc_source_deinit(&top.source);
	profile_reader_close(top.reader);
	cli_deinit(&top.cli);
	return status;
}
