/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of the programs that compare sets of samples. */
#ifndef DCPI_STATS_OPTIONS_H
#define DCPI_STATS_OPTIONS_H

#include "tools/stats/stats_listing.h"

/* Keys of the options below; a program's own keys begin after them. */
enum stats_option {
	STATS_OPTION_BY = 1001,
	STATS_OPTION_NORMALIZE,
	STATS_OPTION_AGAINST,
	STATS_OPTION_LEVEL,
	STATS_OPTION_MIN,
	STATS_OPTION_OWN,
};

/* Entries of a table of options (lib/options.h). */
/* clang-format off */
#define STATS_OPTIONS \
	{STATS_OPTION_BY, "by", "WHAT", "make a set of each epoch, db, host or label"}, \
	{STATS_OPTION_NORMALIZE, "normalize", "HOW", \
	 "normalize by time, total, rest (see dcpistats(1)) or none"}, \
	{STATS_OPTION_AGAINST, "against", "BASELINE", \
	 "test variation against 'sampling' (Poisson noise) or 'others' " \
	 "(the other procedures)"}, \
	{STATS_OPTION_LEVEL, "level", "P", "set the level of significance (0.05)"}, \
	{STATS_OPTION_MIN, "min", "PERCENT", "omit rows with a smaller share of the samples"}
/* clang-format on */

/**
 * stats_option_set() - set one of these options
 * @config: level, least, norm or null is set
 *
 * Return: 0 or -EINVAL.
 */
int stats_option_set(struct stats_listing_config *config, enum sample_sets_by *by, int key,
		     const char *argument, struct error *err);

/** stats_nothing() - print the reason why no row is left to list. Return: CLI_NOTHING */
int stats_nothing(const struct cli *cli, const struct stats_listing_config *config);

#endif
