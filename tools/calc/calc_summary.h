/* SPDX-License-Identifier: GPL-2.0-only */
/* How cycles were spent, in percent of what was tallied (DCPI Figure 4). */
#ifndef DCPI_CALC_SUMMARY_H
#define DCPI_CALC_SUMMARY_H

#include <stdio.h>

#include "analysis/culprit/stall_summary.h"

/** calc_summary_print() - print it, each line behind "*** ". */
void calc_summary_print(FILE *stream, const struct stall_summary *summary);

/** calc_summary_compare() - print two side by side; headings have up to 19 characters. */
void calc_summary_compare(FILE *stream, const char *const headings[2],
			  const struct stall_summary *const summaries[2]);

#endif
