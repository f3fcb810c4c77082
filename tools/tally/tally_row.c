// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/tally_row.h"

uint64_t tally_count_scaled(const struct tally_count *count)
{
	uint64_t sum;

	/* The times of a damaged database can give any factor. */
	if (count->extra >= (double)INT64_MAX ||
	    __builtin_add_overflow(count->samples, (uint64_t)(count->extra + 0.5), &sum))
		return UINT64_MAX;
	return sum;
}

void tally_count_add(struct tally_count *count, uint64_t samples, double factor)
{
	count->samples += samples;
	count->extra += (double)samples * (factor - 1);
}
