// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/stored_extent.h"

#include "db/profile_read.h"

struct data_extent stored_extent(const uint64_t *row, double samples)
{
	const struct data_extent_counts counts = {
		.distinct = (double)row[PROFILE_DISTINCT_ALL],
		.kept = (double)row[PROFILE_DISTINCT_KEPT],
		.once = (double)row[PROFILE_DISTINCT_ONCE],
		.twice = (double)row[PROFILE_DISTINCT_TWICE],
		.compared = (double)row[PROFILE_DISTINCT_COMPARED],
		.equal = (double)row[PROFILE_DISTINCT_EQUAL],
	};

	return data_extent_estimate(samples, &counts);
}
