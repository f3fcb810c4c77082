// SPDX-License-Identifier: GPL-2.0-only
#include "tools/stats/diff_report.h"

#include <errno.h>

#include "lib/error.h"
#include "tools/stats/stats_options.h"

/* Builds are matched by code if rows are parts of code. */
static bool is_of_code(enum tally_by by)
{
	return by == TALLY_BY_PROCEDURE || by == TALLY_BY_INSTRUCTION;
}

int diff_report_run(struct diff_report *diff, struct cli *cli, enum sample_sets_by by,
		    struct stats_listing_config *config)
{
	struct report report;
	struct error err = {0};
	int r = sample_sets_load(&diff->sets, cli, by, &err);

	config->sort = cli->sort;
	config->limit = cli->limit;
	if (r == 0)
		r = set_table_create(&diff->table, &diff->sets, config->by, is_of_code(config->by),
				     cli, &err);
	if (r == 0)
		r = stats_listing_create(&diff->listing, config, &diff->sets, diff->table, &err);
	if (r == -ENOENT && diff->sets.source_count > 0 && diff->sets.sources[0].reader != NULL)
		return cli_nothing(cli, "%s", err.message);
	if (r < 0)
		return cli_fail(cli, &err);
	report = stats_listing_report(diff->listing);
	if (report.table.row_count == 0)
		return stats_nothing(cli, config);
	report.header = &diff->sets.header;
	return report_print(&report, cli, &err) < 0 ? cli_fail(cli, &err) : CLI_OK;
}

void diff_report_deinit(struct diff_report *diff)
{
	stats_listing_destroy(diff->listing);
	set_table_destroy(diff->table);
	sample_sets_deinit(&diff->sets);
}
