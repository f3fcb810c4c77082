// SPDX-License-Identifier: GPL-2.0-only
/* dcpistats - variation between sets of samples (DCPI section 3.3, figure 3) */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/options.h"
#include "tools/report/cli.h"
#include "tools/report/report.h"
#include "tools/report/sandboxed.h"
#include "tools/stats/set_table.h"
#include "tools/stats/stats_compare.h"
#include "tools/stats/stats_options.h"
#include "tools/tally/sample_sets.h"

enum {
	KEY_TEST = STATS_OPTION_OWN,
	KEY_COMPARE,
};

static const struct option_entry own_options[] = {
	STATS_OPTIONS,
	{KEY_TEST, "test", NULL, "print intervals and the test instead of the paper's columns"},
	{KEY_COMPARE, "compare", "PROCEDURE",
	 "compare dcpicalc's summaries of its fastest and slowest set"},
};

/* struct stats - options, and the state of the report */
struct stats {
	struct cli cli;
	enum sample_sets_by by;
	struct stats_listing_config config;
	const char *compare;
	struct sample_sets sets;
	struct set_table *table;
	struct stats_listing *listing;
};

static int dcpistats_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct stats *stats = context;

	switch (key) {
	case KEY_TEST:
		stats->config.form = STATS_LISTING_TEST;
		return 0;
	case KEY_COMPARE:
		stats->compare = argument;
		return 0;
	}
	return stats_option_set(&stats->config, &stats->by, key, argument, err);
}

static const struct cli_tool tool = {
	.name = "dcpistats",
	.synopsis = "[OPTION]... [EPOCHS|DATABASE[@EPOCHS]]...",
	.summary = "List procedures whose samples vary between sets: epochs, databases, hosts, "
		   "labels, or the sets given as operands.",
	.accepts = CLI_HEADER | CLI_EVENTS | CLI_BY_IMAGE | CLI_IMAGES | CLI_PID | CLI_EPOCHS |
		   CLI_LIMIT | CLI_SORT | CLI_FORMATS | CLI_TABLE | CLI_SYMBOLS | CLI_DATABASES |
		   CLI_PROFILER | CLI_IDLE | CLI_FROM,
	.fetch_by = "host",
	.operands_max = 1000,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpistats_set_option,
};

static int dcpistats_check_options(const struct stats *stats, struct error *err)
{
	if (stats->compare != NULL && stats->cli.format != CLI_TEXT)
		return error_set(err, EINVAL, "--compare prints text only");
	return 0;
}

static int list(struct stats *stats, struct error *err)
{
	struct cli *cli = &stats->cli;
	struct report report;
	int r;

	stats->config.sort = cli->sort;
	stats->config.limit = cli->limit;
	stats->config.by = cli->by_image ? TALLY_BY_IMAGE : TALLY_BY_PROCEDURE;
	r = stats_listing_create(&stats->listing, &stats->config, &stats->sets, stats->table, err);
	if (r < 0)
		return r;
	report = stats_listing_report(stats->listing);
	if (report.table.row_count == 0)
		return stats_nothing(&stats->cli, &stats->config);
	report.header = &stats->sets.header;
	return report_print(&report, cli, err);
}

/* Return: the status to exit with. */
static int dcpistats_run(struct stats *stats)
{
	struct error err = {0};
	int r = dcpistats_check_options(stats, &err);

	if (r == 0)
		r = sample_sets_load(&stats->sets, &stats->cli, stats->by, &err);
	if (r == 0)
		r = set_table_create(&stats->table, &stats->sets,
				     stats->cli.by_image ? TALLY_BY_IMAGE : TALLY_BY_PROCEDURE,
				     false, &stats->cli, &err);
	if (r == 0 && stats->compare != NULL)
		r = stats_compare(&stats->sets, &stats->cli, stats->compare, &err);
	else if (r == 0)
		r = list(stats, &err);
	if (r == -ENOENT && stats->sets.source_count > 0 && stats->sets.sources[0].reader != NULL)
		return cli_nothing(&stats->cli, "%s", err.message);
	return r < 0 ? cli_fail(&stats->cli, &err) : r;
}

int main(int argc, char **argv)
{
	struct stats stats = {
		.by = SAMPLE_SETS_BY_DEFAULT,
		.config = {.norm = SIGNIFICANCE_COUNTS, .level = 0.05, .least = 0.005},
	};
	int status = cli_parse(&stats.cli, &tool, argc, argv, &stats);

	if (status == CLI_RUN)
		status = sandboxed_start(&stats.cli, NULL);
	if (status == CLI_RUN)
		status = dcpistats_run(&stats);
	stats_listing_destroy(stats.listing);
	set_table_destroy(stats.table);
	sample_sets_deinit(&stats.sets);
	cli_deinit(&stats.cli);
	return status;
}
