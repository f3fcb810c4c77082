// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpidiff - what differs between two sets of samples
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/error.h"
#include "lib/options.h"
#include "tools/cli.h"
#include "tools/report.h"
#include "tools/sample_sets.h"
#include "tools/set_table.h"
#include "tools/stats_options.h"

enum {
	KEY_BY_INSTRUCTION = STATS_OPTION_OWN,
};

static const struct option_entry own_options[] = {
	STATS_OPTIONS,
	{KEY_BY_INSTRUCTION, "by-instruction", NULL, "list instructions instead of procedures"},
};

/* struct diff - what was asked for, and what it is made of. */
struct diff {
	struct cli cli;
	enum sample_sets_by by;
	struct stats_listing_config config;
	struct sample_sets sets;
	struct set_table *table;
	struct stats_listing *listing;
};

static int set_option(void *context, int key, const char *argument, struct error *err)
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
	.summary = "Tells what differs between two sets of samples, before and after. A SET is "
		   "EPOCHS,\nDATABASE or DATABASE@EPOCHS.",
	.accepts = CLI_EVENTS | CLI_BY_IMAGE | CLI_IMAGES | CLI_PID | CLI_EPOCHS | CLI_LIMIT |
		   CLI_SORT | CLI_FORMATS | CLI_TABLE | CLI_SYMBOLS | CLI_DATABASES,
	.operands_max = 2,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = set_option,
};

static int check_options(struct diff *diff, struct error *err)
{
	if (diff->cli.by_image && diff->config.by == TALLY_BY_INSTRUCTION)
		return error_set(err, EINVAL, "--by-image and --by-instruction exclude each other");
	if (diff->cli.by_image)
		diff->config.by = TALLY_BY_IMAGE;
	diff->config.sort = diff->cli.sort;
	diff->config.limit = diff->cli.limit;
	return 0;
}

/* Return: status to exit with. */
static int run(struct diff *diff)
{
	struct report report;
	struct error err = {0};
	int r = check_options(diff, &err);

	if (r == 0)
		r = sample_sets_load(&diff->sets, &diff->cli, diff->by, &err);
	if (r == 0)
		r = set_table_create(&diff->table, &diff->sets, diff->config.by,
				     diff->config.by != TALLY_BY_IMAGE, &diff->cli, &err);
	if (r == 0)
		r = stats_listing_create(&diff->listing, &diff->config, &diff->sets, diff->table,
					 &err);
	if (r == -ENOENT && diff->sets.source_count > 0 && diff->sets.sources[0].reader != NULL)
		return cli_nothing(&diff->cli, "%s", err.message);
	if (r < 0)
		return cli_fail(&diff->cli, &err);
	report = stats_listing_report(diff->listing);
	if (report.table.row_count == 0)
		return stats_nothing(&diff->cli, &diff->config);
	report.header = &diff->sets.header;
	return report_print(&report, &diff->cli, &err) < 0 ? cli_fail(&diff->cli, &err) : CLI_OK;
}

int main(int argc, char **argv)
{
	struct diff diff = {
		.by = SAMPLE_SETS_BY_DEFAULT,
		.config = {.norm = VARIATION_TOTAL, .level = 0.05, .form = STATS_LISTING_DIFF},
	};
	int status = cli_parse(&diff.cli, &tool, argc, argv, &diff);

	if (status == CLI_RUN)
		status = run(&diff);
	stats_listing_destroy(diff.listing);
	set_table_destroy(diff.table);
	sample_sets_deinit(&diff.sets);
	cli_deinit(&diff.cli);
	return status;
}
