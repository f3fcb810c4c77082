/* SPDX-License-Identifier: GPL-2.0-only */
/* Breakdown of cycles by cause, in percent of the tallied cycles (DCPI Figure 4). */
#ifndef DCPI_CALC_SUMMARY_H
#define DCPI_CALC_SUMMARY_H

#include <stdio.h>

#include "analysis/culprit/stall_summary.h"

/**
 * calc_summary_print() - print a summary, each line prefixed by "*** "
 * @all_samples: of time, in all images; the last line gives the summary's share of them; 0: no
 * share
 */
void calc_summary_print(FILE *stream, const struct stall_summary *summary, double all_samples);

/**
 * calc_summary_compare() - print two summaries next to each other; headings have up to 19
 * characters
 *
 * The last line gives the number of samples that were tallied, and their share of the summary's.
 */
void calc_summary_compare(FILE *stream, const char *const headings[2],
			  const struct stall_summary *const summaries[2]);

#endif
