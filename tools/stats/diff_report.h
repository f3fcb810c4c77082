/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares two sets of samples, from the command line to the report. */
#ifndef DCPI_DIFF_REPORT_H
#define DCPI_DIFF_REPORT_H

#include "tools/stats/stats_listing.h"

/** struct diff_report - state of a report; zero-initialised: empty. Fields are private */
struct diff_report {
	struct sample_sets sets;
	struct set_table *table;
	struct stats_listing *listing;
};

/* Default normalization and significance level. */
#define DIFF_REPORT_DEFAULTS                                                                       \
	{                                                                                          \
		.norm = SIGNIFICANCE_TOTAL, .level = 0.05, .form = STATS_LISTING_DIFF              \
	}

/**
 * diff_report_run() - load sets, compare, print
 * @report: freed by diff_report_deinit(), also after a failure
 * @cli:    databases, epochs, operands, event, sort, limit, format
 * @by:     kind of the sets
 * @config: DIFF_REPORT_DEFAULTS, @by, and changes by options; sort and limit are taken from @cli
 *
 * Return: the status to exit with; errors are printed.
 */
int diff_report_run(struct diff_report *report, struct cli *cli, enum sample_sets_by by,
		    struct stats_listing_config *config);

void diff_report_deinit(struct diff_report *report);

#endif
