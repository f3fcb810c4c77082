// SPDX-License-Identifier: GPL-2.0-only
#include "tools/stats/stats_options.h"

#include <errno.h>
#include <string.h>

#include "lib/error.h"
#include "lib/near_names.h"

#define NORMS_MAX 8

static int set_by(enum sample_sets_by *ret, const char *argument, struct error *err)
{
	const char *names[SAMPLE_SETS_BY_NR];

	for (enum sample_sets_by by = 0; by < SAMPLE_SETS_BY_NR; by++) {
		names[by] = sample_sets_by_name(by);
		if (strcmp(argument, names[by]) == 0) {
			*ret = by;
			return 0;
		}
	}
	return near_names_unknown(err, "kind of set", argument, names, SAMPLE_SETS_BY_NR);
}

static int set_norm(struct stats_listing_config *config, const char *argument, struct error *err)
{
	const char *names[NORMS_MAX], *name;
	size_t count = 0;

	for (enum significance_norm norm = 0; (name = stats_listing_norm_name(norm)) != NULL;
	     norm++) {
		if (strcmp(argument, name) == 0) {
			config->norm = norm;
			return 0;
		}
		if (count < NORMS_MAX)
			names[count++] = name;
	}
	return near_names_unknown(err, "normalization", argument, names, count);
}

static int set_against(struct stats_listing_config *config, const char *argument, struct error *err)
{
	static const char *const names[] = {"sampling", "others"};

	config->null =
		strcmp(argument, "others") == 0 ? SIGNIFICANCE_OTHERS : SIGNIFICANCE_SAMPLING;
	if (config->null == SIGNIFICANCE_OTHERS || strcmp(argument, "sampling") == 0)
		return 0;
	return near_names_unknown(err, "baseline", argument, names, sizeof(names) / sizeof(*names));
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
		return cli_no_image(cli, "samples", "");
	return cli_nothing(cli, "no row has %g%% of the samples", 100 * config->least);
}
