/* SPDX-License-Identifier: GPL-2.0-only */
/* The extent of accesses from the columns of a recording (enum profile_footprint_distinct). */
#ifndef DCPI_STORED_EXTENT_H
#define DCPI_STORED_EXTENT_H

#include "analysis/machine/data_footprint.h"

/**
 * stored_extent() - estimate the number of different units
 * @row:     PROFILE_DISTINCT_COLUMNS columns
 * @samples: accesses, at least 1
 */
struct data_extent stored_extent(const uint64_t *row, double samples);

#endif
