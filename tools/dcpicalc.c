// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpicalc - how often each instruction ran, how long it took, and why it stalled (DCPI
 * section 3.2, figures 2 and 4)
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/program_calls.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/options.h"
#include "tools/calc_method.h"
#include "tools/calc_output.h"
#include "tools/calc_source.h"
#include "tools/cli.h"
#include "tools/source_text.h"

enum {
	KEY_SUMMARY = 1001,
	KEY_ALL,
	KEY_MODEL,
	KEY_ESTIMATOR,
	KEY_SOURCE,
	KEY_NO_SOURCE,
	KEY_AS_PUBLISHED,
};

static const struct option_entry own_options[] = {
	{KEY_ALL, "all", NULL, "all procedures that have samples"},
	{KEY_SUMMARY, "summary", NULL, "where the cycles went, by cause"},
	{'n', "limit", "N", "print only the N blocks with most samples"},
	{KEY_SOURCE, "source", NULL, "print source lines where they are known (default)"},
	{KEY_NO_SOURCE, "no-source", NULL, "do not"},
	{'e', "event", "EVENT", "the one whose samples are of time: cycles, cpu-clock, ..."},
	{KEY_MODEL, "model", "NAME", "the machine: alpha21164, cortex-a53, ..."},
	{KEY_ESTIMATOR, "estimator", "NAME", "of frequencies: dcpi, paper, avg, max"},
	{KEY_AS_PUBLISHED, "as-published", NULL, "as the paper of 1997 did it"},
};

/* struct calc - what was asked for, and what it is made of. */
struct calc {
	struct cli cli;
	bool all;
	bool summary;
	bool no_source;
	bool as_published;
	const char *event;		   /* NULL: the best there is */
	const struct machine_model *model; /* NULL: of the machine that was profiled */
	const struct frequency_estimator *estimator;
	struct profile_reader *reader;
	struct calc_source source;
	struct program_calls *calls; /* of all images; NULL: not looked for */
	struct calc_output output;
};

static int set_option(void *context, int key, const char *argument, struct error *err)
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
	case KEY_AS_PUBLISHED:
		calc->as_published = true;
		break;
	case KEY_MODEL:
		return calc_method_model(&calc->model, argument, err);
	case KEY_ESTIMATOR:
		return calc_method_estimator(&calc->estimator, argument, err);
	}
	return r;
}

static const struct cli_tool tool = {
	.name = "dcpicalc",
	.synopsis = "[OPTION]... [PROCEDURE|IMAGE:PROCEDURE|[IMAGE:]0xADDRESS]",
	.summary = "Tells how often the instructions of a procedure ran, how long they took, and "
		   "what they\nwaited for; without operand, of the hottest one that has a symbol.",
	.accepts = CLI_IMAGES | CLI_PID | CLI_EPOCHS | CLI_FORMATS | CLI_SYMBOLS,
	.operands_max = 1,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = set_option,
};

static int check_options(const struct calc *calc, struct error *err)
{
	if (calc->as_published && calc->estimator != NULL)
		return error_set(err, EINVAL, "--as-published and --estimator exclude each other");
	if (calc->all && calc->cli.operand_count > 0)
		return error_set(err, EINVAL, "--all and a procedure exclude each other");
	return 0;
}

static int options_of(const struct calc *calc, const struct calc_choice *choice,
		      struct image_analysis_options *options, struct error *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int r = calc_source_options(&calc->source, choice, calc->model, options, err);

	if (r < 0)
		return r;
	options->estimator =
		calc->as_published ? frequency_estimator_find("paper") : calc->estimator;
	options->published = calc->as_published;
	if (calc->all) {
		options->scope = IMAGE_ANALYSIS_SAMPLED;
		options->threads = cpus > 1 ? (unsigned int)cpus : 1;
	}
	options->tie_calls = !calc->as_published && (calc->all || options->tie_calls);
	options->calls = calc->calls;
	return 0;
}

/* Analyses an image's procedures, all or the one that was chosen, and prints them. */
static int analyse(struct calc *calc, const struct calc_choice *choice, struct error *err)
{
	struct image_analysis_options options;
	int r = options_of(calc, choice, &options, err);

	if (r < 0)
		return r;
	if (calc_output_image(&calc->output, choice, options.model) < 0)
		return error_set(err, ENOMEM, "out of memory");
	return image_analysis_run(choice->code, &choice->profile.samples, &options,
				  calc_output_procedure, &calc->output, NULL, err);
}

static int analyse_one(struct calc *calc, struct error *err)
{
	_cleanup_(calc_choice_deinit) struct calc_choice choice = {0};
	int r;

	if (calc->cli.operand_count > 0)
		r = calc_select_named(&choice, &calc->source.select, calc->cli.operands[0], err);
	else
		r = calc_select_hottest(&choice, &calc->source.select, err);
	return r == 0 ? analyse(calc, &choice, err) : r;
}

/* Of images that nobody asked for, those without code are passed over. */
static bool is_chosen(const struct calc *calc, const struct calc_image *image)
{
	if (calc->cli.image == NULL)
		return image->image.kind == PROFILE_IMAGE_FILE ||
		       image->image.kind == PROFILE_IMAGE_JIT;
	return calc_image_matches(image, calc->cli.image);
}

/*
 * Calls compare procedures of all images, so these are gone through before any of them is
 * printed. What is wrong with one of them is told when its turn comes.
 */
static int tally_calls(struct calc *calc)
{
	int r = calc->as_published ? 0 : program_calls_create(&calc->calls);

	for (size_t i = 0; i < calc->source.images.count && r == 0 && calc->calls != NULL; i++) {
		const struct calc_image *image = &calc->source.images.list[i];
		_cleanup_(calc_choice_deinit) struct calc_choice choice = {0};
		struct image_analysis_options options;

		if (!is_chosen(calc, image) ||
		    calc_select_open(&choice, &calc->source.select, image, NULL) < 0 ||
		    options_of(calc, &choice, &options, NULL) < 0)
			continue;
		if (image_analysis_tally(calc->calls, choice.code, &choice.profile.samples,
					 &options, NULL) == -ENOMEM)
			r = -ENOMEM;
	}
	return r == 0 && calc->calls != NULL ? program_calls_solve(calc->calls) : r;
}

/* Images that cannot be analysed don't stop the others: there is a line about each. */
static int analyse_all(struct calc *calc)
{
	size_t chosen = 0, failed = 0;
	struct error err;

	if (tally_calls(calc) < 0) {
		error_set(&err, ENOMEM, "out of memory");
		return cli_fail(&calc->cli, &err);
	}

	for (size_t i = 0; i < calc->source.images.count; i++) {
		const struct calc_image *image = &calc->source.images.list[i];
		struct calc_choice choice = {0};
		int r;

		if (!is_chosen(calc, image))
			continue;
		chosen++;
		r = calc_select_open(&choice, &calc->source.select, image, &err);
		/* Of code made at run time, none may be kept. */
		if (r == -ENOTSUP && calc->cli.image == NULL &&
		    image->image.kind == PROFILE_IMAGE_JIT)
			continue;
		if (r == 0)
			r = analyse(calc, &choice, &err);
		calc_choice_deinit(&choice);
		if (r < 0) {
			cli_fail(&calc->cli, &err);
			failed++;
		}
		if (r == -ENOMEM)
			return CLI_FAILED;
	}
	if (chosen == 0 && calc->cli.image != NULL)
		return cli_nothing(&calc->cli, "no samples in images that match \"%s\"",
				   calc->cli.image);
	if (chosen == 0)
		return cli_nothing(&calc->cli, "no samples in files");
	if (failed < chosen && calc->output.procedures == 0)
		return cli_nothing(&calc->cli, "no samples in procedures");
	return failed < chosen ? CLI_OK : CLI_FAILED;
}

static int fail(const struct calc *calc, int r, const struct error *err)
{
	if (r == -ENOENT && calc->reader != NULL)
		return cli_nothing(&calc->cli, "%s", err->message);
	return cli_fail(&calc->cli, err);
}

static int run(struct calc *calc, struct source_text *source)
{
	struct error err = {0};
	int r = check_options(calc, &err), status = CLI_OK;

	if (r == 0)
		r = calc_source_open(&calc->source, &calc->reader, &calc->cli, calc->event, &err);
	if (r < 0)
		return fail(calc, r, &err);
	calc->output = (struct calc_output){
		.json = calc->cli.format == CLI_JSON,
		.summary = calc->summary,
		.together = calc->all,
		.demangle = calc->cli.demangle,
		.listing = {.color = calc->cli.color,
			    .width = calc->cli.width,
			    .blocks = calc->cli.limit,
			    .halves = calc->as_published,
			    .source = source},
		.header = &calc->source.header,
		.events = &calc->source.events,
		.all_samples = (double)calc->source.images.time,
	};
	if (calc->all)
		status = analyse_all(calc);
	else
		r = analyse_one(calc, &err);
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

	if (status == CLI_RUN) {
		if (!calc.no_source)
			source = source_text_create();
		status = run(&calc, source);
	}
	source_text_destroy(source);
	program_calls_destroy(calc.calls);
	calc_source_deinit(&calc.source);
	profile_reader_close(calc.reader);
	cli_deinit(&calc.cli);
	return status;
}
