// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_kernel_counts.h"

#include <string.h>

#include "db/profile_read.h"
#include "tools/report/report_header.h"

#define GROUP "command"

/* @found: bit i: the epoch has the count i */
struct reading {
	struct kernel_counts *ret;
	unsigned int found;
};

static int counter_take(void *context, const struct profile_counter *counter)
{
	struct reading *reading = context;

	for (unsigned int i = 0; strcmp(counter->group, GROUP) == 0 && i < KERNEL_COUNTS; i++) {
		if (strcmp(counter->name, kernel_count_name((enum kernel_count)i)) != 0)
			continue;
		reading->ret->counts[i] += (double)counter->count;
		reading->found |= 1U << i;
	}
	return 0;
}

int calc_kernel_counts_load(struct kernel_counts *ret, struct profile_reader *reader,
			    const struct profile_filter *filter, const struct report_header *header,
			    struct error *err)
{
	unsigned int everywhere = (1U << KERNEL_COUNTS) - 1;

	*ret = (struct kernel_counts){0};
	if (filter->since_ns != 0 || filter->until_ns != 0)
		return 0;
	for (size_t i = 0; i < header->epoch_count; i++) {
		struct reading reading = {ret, 0};
		int r = profile_reader_counters(reader, &header->epochs[i], counter_take, &reading,
						err);

		if (r < 0)
			return r;
		everywhere &= reading.found;
	}
	for (unsigned int i = 0; i < KERNEL_COUNTS; i++) {
		if ((everywhere & 1U << i) == 0)
			ret->counts[i] = 0;
	}
	return 0;
}
