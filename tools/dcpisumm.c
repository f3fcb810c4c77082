// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpisumm - cycles of a program, an image or a whole system, by cause (DCPI section 3.2, figure 4)
 */
#include <errno.h>
#include <string.h>

#include "lib/error.h"
#include "lib/near_names.h"
#include "lib/options.h"
#include "tools/report/sandboxed.h"
#include "tools/annotate/summary_listing.h"

enum {
	KEY_BY = CALC_METHOD_OWN,
	KEY_MIN_SAMPLES,
};

static const struct option_entry own_options[] = {
	{KEY_BY, "by", "WHAT", "list images (default) or procedures"},
	{'e', "event", "EVENT", "use this event as time: cycles, cpu-clock, ..."},
	CALC_PLAN_OPTION(KEY_MIN_SAMPLES),
	CALC_METHOD_OPTIONS,
};

/* struct summ - options, and the state of the report */
struct summ {
	struct cli cli;
	const char *event; /* NULL: the best one available */
	struct calc_method method;
	struct calc_plan plan;
	struct profile_reader *reader;
	struct calc_source source;
	struct summary_listing listing;
};

static int dcpisumm_set_option(void *context, int key, const char *argument, struct error *err)
{
	static const char *const names[] = {"image", "procedure"};
	struct summ *summ = context;

	if (key == 'e') {
		summ->event = argument;
		return 0;
	}
	if (key == KEY_MIN_SAMPLES)
		return calc_plan_set(&summ->plan, argument, err);
	if (key != KEY_BY)
		return calc_method_set(&summ->method, key, argument, err);
	summ->listing.by_procedure = strcmp(argument, "procedure") == 0;
	if (summ->listing.by_procedure || strcmp(argument, "image") == 0)
		return 0;
	return near_names_unknown(err, "kind of row", argument, names,
				  sizeof(names) / sizeof(*names));
}

static const struct cli_tool tool = {
	.name = "dcpisumm",
	.synopsis = "[OPTION]...",
	.summary = "Print a summary of cycles by cause, of all samples and of each image or "
		   "procedure.",
	.accepts = CLI_HEADER | CLI_IMAGES | CLI_PID | CLI_EPOCHS | CLI_LIMIT | CLI_SORT |
		   CLI_FORMATS | CLI_TABLE | CLI_SYMBOLS | CLI_PROFILER | CLI_IDLE,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpisumm_set_option,
};

static int dcpisumm_print(struct summ *summ, const struct calc_driver *walk)
{
	struct summary_listing *listing = &summ->listing;
	struct report report;
	struct error err;

	listing->images = walk->images;
	listing->analysed = walk->images - walk->failed - walk->sparse;
	listing->procedures = walk->procedures;
	listing->rest = walk->rest;
	if (summary_listing_finish(listing, summ->cli.sort, summ->cli.limit, &err) < 0)
		return cli_fail(&summ->cli, &err);
	report = summary_listing_report(listing);
	report.header = &summ->source.header;
	return report_print(&report, &summ->cli, &err) < 0 ? cli_fail(&summ->cli, &err) : CLI_OK;
}

static int dcpisumm_run(struct summ *summ)
{
	struct calc_driver walk = {
		.cli = &summ->cli,
		.source = &summ->source,
		.method = summ->method,
		.plan = summ->plan,
		.image = summary_listing_image,
		.procedure = summary_listing_procedure,
		.context = &summ->listing,
		.doubtful = summ->method.as_published,
		.progress = true,
	};
	struct error err = {0};
	int r = calc_method_check(&summ->method, &err);
	int status;

	/* The paper's tools analysed every procedure with samples. */
	if (summ->method.as_published)
		walk.plan = (struct calc_plan){0};
	if (!summ->method.as_published)
		calc_source_exclude(&summ->source, &summ->cli, CALC_PROFILER_REMOVED);
	if (r == 0)
		r = calc_source_open(&summ->source, &summ->reader, &summ->cli, summ->event, &err);
	if (r == -ENOENT && summ->reader != NULL)
		return cli_nothing(&summ->cli, "%s", err.message);
	if (r < 0)
		return cli_fail(&summ->cli, &err);
	summ->source.select.counts = calc_method_counts(&summ->method);
	summ->listing.demangle = summ->cli.demangle;
	summ->listing.events = &summ->source.events;
	summ->listing.all_samples = (double)summ->source.images.time;
	status = calc_driver_run(&walk);
	return status == CLI_OK ? dcpisumm_print(summ, &walk) : status;
}

int main(int argc, char **argv)
{
	struct summ summ = {.plan = CALC_PLAN_DEFAULT};
	int status = cli_parse(&summ.cli, &tool, argc, argv, &summ);

	if (status == CLI_RUN)
		status = sandboxed_start(&summ.cli, NULL);
	if (status == CLI_RUN)
		status = dcpisumm_run(&summ);
	summary_listing_deinit(&summ.listing);
	calc_source_deinit(&summ.source);
	profile_reader_close(summ.reader);
	cli_deinit(&summ.cli);
	return status;
}
