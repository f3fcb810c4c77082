// SPDX-License-Identifier: GPL-2.0-only
/* dcpidiff - differences between two sets of samples */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/options.h"
#include "tools/report/cli.h"
#include "tools/report/sandboxed.h"
#include "tools/stats/diff_report.h"
#include "tools/stats/stats_options.h"

enum {
	KEY_BY_INSTRUCTION = STATS_OPTION_OWN,
};

static const struct option_entry own_options[] = {
	STATS_OPTIONS,
	{KEY_BY_INSTRUCTION, "by-instruction", NULL, "list instructions instead of procedures"},
};

/* struct diff - options, and the state of the report */
struct diff {
	struct cli cli;
	enum sample_sets_by by;
	struct stats_listing_config config;
	struct diff_report report;
};

static int dcpidiff_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct diff *diff = context;

	if (key == KEY_BY_INSTRUCTION) {
		diff->config.by = TALLY_BY_INSTRUCTION;
		return 0;
	}
	return stats_option_set(&diff->config, &diff->by, key, argument, err);
}

static const struct cli_tool tool = {
	.name = "dcpidiff",
	.synopsis = "[OPTION]... [SET SET]",
	.summary = "Compare two sets of samples, before and after. A SET is EPOCHS, DATABASE or "
		   "DATABASE@EPOCHS.",
	.accepts = CLI_HEADER | CLI_EVENTS | CLI_BY_IMAGE | CLI_IMAGES | CLI_PID | CLI_EPOCHS |
		   CLI_LIMIT | CLI_SORT | CLI_FORMATS | CLI_TABLE | CLI_SYMBOLS | CLI_DATABASES |
		   CLI_PROFILER,
	.operands_max = 2,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpidiff_set_option,
};

static int dcpidiff_check_options(struct diff *diff, struct error *err)
{
	if (diff->cli.by_image && diff->config.by == TALLY_BY_INSTRUCTION)
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--by-image", "--by-instruction"));
	if (diff->cli.by_image)
		diff->config.by = TALLY_BY_IMAGE;
	return 0;
}

int main(int argc, char **argv)
{
	struct diff diff = {.by = SAMPLE_SETS_BY_DEFAULT, .config = DIFF_REPORT_DEFAULTS};
	int status = cli_parse(&diff.cli, &tool, argc, argv, &diff);
	struct error err;

	if (status == CLI_RUN)
		status = sandboxed_start(&diff.cli, NULL);
	if (status == CLI_RUN && dcpidiff_check_options(&diff, &err) < 0)
		status = cli_fail(&diff.cli, &err);
	if (status == CLI_RUN)
		status = diff_report_run(&diff.report, &diff.cli, diff.by, &diff.config);
	diff_report_deinit(&diff.report);
	cli_deinit(&diff.cli);
	return status;
}
