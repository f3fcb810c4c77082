// SPDX-License-Identifier: GPL-2.0-only
#include "tools/stats/stats_options.h"

#include <errno.h>
#include <string.h>

#include "lib/error.h"

static int set_by(enum sample_sets_by *ret, const char *argument, struct error *err)
{
	for (enum sample_sets_by by = 0; by < SAMPLE_SETS_BY_NR; by++) {
		if (strcmp(argument, sample_sets_by_name(by)) == 0) {
			*ret = by;
			return 0;
		}
	}
	return error_set(err, EINVAL, "sets are made by epoch, db, host or label, not by \"%s\"",
			 argument);
}

static int set_norm(struct stats_listing_config *config, const char *argument, struct error *err)
{
	const char *name;

	for (enum variation_norm norm = 0; (name = stats_listing_norm_name(norm)) != NULL; norm++) {
		if (strcmp(argument, name) == 0) {
			config->norm = norm;
			return 0;
		}
	}
	return error_set(err, EINVAL,
			 "samples are normalized by time, total, rest or none, not \"%s\"",
			 argument);
}

static int set_against(struct stats_listing_config *config, const char *argument, struct error *err)
{
	config->null = strcmp(argument, "others") == 0 ? VARIATION_OTHERS : VARIATION_SAMPLING;
	if (config->null == VARIATION_OTHERS || strcmp(argument, "sampling") == 0)
		return 0;
	return error_set(err, EINVAL, "tests are against sampling or others, not \"%s\"", argument);
}

int stats_option_set(struct stats_listing_config *config, enum sample_sets_by *by, int key,
		     const char *argument, struct error *err)
{
	int r = 0;

	switch (key) {
	case STATS_OPTION_BY:
		return set_by(by, argument, err);
	case STATS_OPTION_NORMALIZE:
		return set_norm(config, argument, err);
	case STATS_OPTION_AGAINST:
		return set_against(config, argument, err);
	case STATS_OPTION_LEVEL:
		return cli_real(argument, "level of significance", 0, 1, &config->level, err);
	case STATS_OPTION_MIN:
		r = cli_real(argument, "percentage", 0, 100, &config->least, err);
		config->least /= 100;
		break;
	}
	return r;
}

int stats_nothing(const struct cli *cli, const struct stats_listing_config *config)
{
	if (cli->image != NULL)
		return cli_nothing(cli, "no samples in images that match \"%s\"", cli->image);
	return cli_nothing(cli, "nothing has %g%% of the samples", 100 * config->least);
}
