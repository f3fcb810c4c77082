/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Explains why a procedure varies (DCPI section 3.3): breaks down its cycles in the set in which it
 * has the fewest samples, and in the set in which it has the most.
 */
#ifndef DCPI_STATS_COMPARE_H
#define DCPI_STATS_COMPARE_H

#include "tools/tally/sample_sets.h"

/**
 * stats_compare() - print the two summaries next to each other
 * @operand: a procedure, as for dcpicalc
 *
 * Sets are compared by unnormalised samples. If a set covers several databases, only its first one
 * is analysed.
 *
 * Return: 0; or as calc_select_named() and image_analysis_run().
 */
int stats_compare(const struct sample_sets *sets, const struct cli *cli, const char *operand,
		  struct error *err);

#endif
