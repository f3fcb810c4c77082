/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's own counts of the commands that dcpirun profiled. */
#ifndef DCPI_CALC_KERNEL_COUNTS_H
#define DCPI_CALC_KERNEL_COUNTS_H

#include "analysis/kernel_counts.h"

struct error;
struct profile_filter;
struct profile_reader;
struct report_header;

/**
 * calc_kernel_counts_load() - add up the counts of all epochs
 * @ret:    out: 0 if an epoch has no counts, or only a part of it is selected
 * @header: with the epochs
 *
 * Return: 0 or the reader's error.
 */
int calc_kernel_counts_load(struct kernel_counts *ret, struct profile_reader *reader,
			    const struct profile_filter *filter, const struct report_header *header,
			    struct error *err);

#endif
