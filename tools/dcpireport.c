// SPDX-License-Identifier: GPL-2.0-only
/* dcpireport - a profile as a page to look at, in one HTML file */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/options.h"
#include "tools/page/page_detail.h"
#include "tools/page/page_html.h"
#include "tools/page/page_sets.h"
#include "tools/page/page_source.h"
#include "tools/page/page_stacks.h"
#include "tools/page/page_timeline.h"
#include "tools/report/cli.h"
#include "tools/report/output_file.h"
#include "tools/report/sandboxed.h"
#include "tools/report/source_text.h"

enum {
	KEY_DIFF = 1001,
	KEY_NO_GRAPHS,
	KEY_NO_SOURCE,
	KEY_ROWS,
};

static const struct option_entry own_options[] = {
	{'o', "output", "FILE", "write to FILE; default: standard output"},
	{'n', "limit", "N", "analyse the N procedures with most samples (default: 50)"},
	{KEY_ROWS, "rows", "N", "list the N procedures with most samples (default: 1500)"},
	{KEY_DIFF, "diff", NULL, "add the differences between two sets, as dcpidiff does"},
	{KEY_NO_GRAPHS, "no-graphs", NULL, "omit control-flow graphs"},
	{KEY_NO_SOURCE, "no-source", NULL, "omit source lines"},
};

/* Larger graphs take long to lay out and are too large to be useful. */
#define BLOCKS_MAX 36

/* struct page_report - options, and the state of the report */
struct page_report {
	struct cli cli;
	const char *output;
	bool diff;
	size_t rows;
	struct page_detail_options detail;
	struct page_source source;
	struct page_document document;
};

static int dcpireport_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct page_report *report = context;
	int64_t number = 0;
	int r = 0;

	switch (key) {
	case 'o':
		report->output = argument;
		break;
	case 'n':
	case KEY_ROWS:
		r = cli_number(argument, "number of procedures", &number, err);
		*(key == 'n' ? &report->detail.limit : &report->rows) = (size_t)number;
		break;
	case KEY_DIFF:
		report->diff = true;
		break;
	case KEY_NO_GRAPHS:
		report->detail.graphs = false;
		break;
	default:
		report->detail.lines = false;
		break;
	}
	return r;
}

static const struct cli_tool tool = {
	.name = "dcpireport",
	.synopsis = "[OPTION]... [--diff SET SET]",
	.summary = "Write a profile as one HTML file for a browser, with procedures, instructions, "
		   "causes of stalls, epochs and differences.",
	.accepts = CLI_EVENTS | CLI_IMAGES | CLI_PID | CLI_EPOCHS | CLI_FORMATS | CLI_SYMBOLS |
		   CLI_SOURCES | CLI_PROFILER | CLI_FROM,
	.fetch_by = "host",
	.operands_max = 2,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpireport_set_option,
};

static int dcpireport_check_options(const struct page_report *report, struct error *err)
{
	if (report->diff && report->cli.operand_count != 2)
		return error_set(err, EINVAL, "--diff needs two sets of samples");
	if (!report->diff && report->cli.operand_count > 0)
		return error_set(err, EINVAL, ERROR_UNEXPECTED_ARGUMENT("dcpireport"),
				 report->cli.operands[0]);
	if (report->cli.format == CLI_TEXT && report->output == NULL && report->cli.terminal)
		return error_set(err, EINVAL,
				 "cannot write a page to a terminal: use --output FILE");
	return 0;
}

/* The comparisons come last, because they change the filter of the command line. */
static int dcpireport_collect(struct page_report *report, struct error *err)
{
	struct page_document *document = &report->document;
	int r = page_source_load(&report->source, &report->cli, err);

	if (r == 0 && page_document_init(document) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0)
		r = page_source_add(&report->source, document, report->rows, err);
	if (r == 0)
		r = page_timeline_add(&report->source, document, report->rows, err);
	if (r == 0)
		r = page_detail_add(&report->source, &report->detail, document, err);
	if (r == 0)
		r = page_stacks_add(&report->source, document, err);
	if (r == 0)
		r = page_sets_add_variation(document, &report->cli, err);
	if (r == 0 && report->diff)
		r = page_sets_add_diff(document, &report->cli, err);
	return r;
}

static int write_page(void *context, FILE *file, struct error *err)
{
	const struct page_report *report = context;

	if (report->cli.format != CLI_JSON)
		return page_html_write(file, &report->document, err);
	return page_document_print(file, &report->document) < 0
		       ? error_set(err, ENOMEM, ERROR_NO_MEMORY)
		       : 0;
}

static int dcpireport_run(struct page_report *report)
{
	struct error err = {0};
	int r = dcpireport_check_options(report, &err);

	report->detail.text = source_text_create(&report->cli.sources);
	if (r == 0 && report->detail.text == NULL)
		r = error_set(&err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0)
		r = dcpireport_collect(report, &err);
	if (r == -ENOENT && report->source.reader != NULL)
		return cli_nothing(&report->cli, "%s", err.message);
	if (r == 0)
		r = output_file_write(report->output, write_page, report, &err);
	return r < 0 ? cli_fail(&report->cli, &err) : CLI_OK;
}

int main(int argc, char **argv)
{
	struct page_report report = {
		.rows = 1500,
		.detail = {.limit = 50, .blocks = BLOCKS_MAX, .graphs = true, .lines = true},
	};
	int status = cli_parse(&report.cli, &tool, argc, argv, &report);

	if (status == CLI_RUN)
		status = sandboxed_start(
			&report.cli, &(struct sandboxed_options){.access.output = report.output});
	if (status == CLI_RUN)
		status = dcpireport_run(&report);
	source_text_destroy(report.detail.text);
	page_document_deinit(&report.document);
	page_source_deinit(&report.source);
	cli_deinit(&report.cli);
	return status;
}
