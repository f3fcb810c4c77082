/* SPDX-License-Identifier: GPL-2.0-only */
/* How cycles were spent, in percent of what was tallied (DCPI Figure 4). */
#ifndef DCPI_CALC_SUMMARY_H
#define DCPI_CALC_SUMMARY_H

#include <stdio.h>

#include "analysis/culprit/stall_summary.h"

/**
 * calc_summary_print() - print it, each line behind "*** "
 * @all_samples: of time, in all images, of which the last line tells the share
 */
void calc_summary_print(FILE *stream, const struct stall_summary *summary, double all_samples);

/**
 * calc_summary_compare() - print two side by side; headings have up to 19 characters
 *
 * The last line tells how many samples were tallied, and their share of the summary's.
 */
void calc_summary_compare(FILE *stream, const char *const headings[2],
			  const struct stall_summary *const summaries[2]);

#endif
