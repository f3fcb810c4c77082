/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a procedure varies (DCPI section 3.3): where its cycles went in the set in which it
 * has the fewest samples, and in the one in which it has the most.
 */
#ifndef DCPI_STATS_COMPARE_H
#define DCPI_STATS_COMPARE_H

#include "tools/tally/sample_sets.h"

/**
 * stats_compare() - print the two summaries side by side
 * @operand: a procedure, as dcpicalc takes it
 *
 * Sets are compared by samples as they are; of a set in several databases, its first one is
 * looked at. Return: 0; or as of calc_select_named() and
 * image_analysis_run().
 */
int stats_compare(const struct sample_sets *sets, const struct cli *cli, const char *operand,
		  struct error *err);

#endif
