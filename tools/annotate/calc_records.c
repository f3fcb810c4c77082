// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_records.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "tools/annotate/calc_profile.h"

bool calc_records_has(enum profile_edge_kind kind)
{
	return kind == PROFILE_EDGE_RANGE || kind == PROFILE_EDGE_RANGE_WEIGHT ||
	       kind == PROFILE_EDGE_RANGE_CYCLES || kind == PROFILE_EDGE_RANGE_SAMPLED;
}

int calc_records_add(struct calc_records *records, const struct calc_profile_wanted *wanted,
		     enum profile_edge_kind kind, const struct profile_edge *edge)
{
	double count = (double)edge->count;
	struct record_range range = {.count = 0};

	if (calc_profile_address(wanted, edge->from, &range.start) < 0 ||
	    calc_profile_address(wanted, edge->to, &range.end) < 0)
		return 0;
	if (kind == PROFILE_EDGE_RANGE)
		range.count = count;
	else if (kind == PROFILE_EDGE_RANGE_WEIGHT)
		range.weight = count / PROFILE_EDGE_PART;
	else if (kind == PROFILE_EDGE_RANGE_CYCLES)
		range.cycles = count;
	else
		range.sampled = count;
	if (array_reserve(&records->list, &records->capacity, records->count + 1,
			  sizeof(*records->list)) < 0)
		return -ENOMEM;
	records->list[records->count++] = range;
	return 0;
}

static int by_range(const void *a, const void *b)
{
	const struct record_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

void calc_records_settle(struct calc_records *records)
{
	struct record_range *list = records->list;
	size_t kept = 0;

	if (records->count > 0)
		qsort(list, records->count, sizeof(*list), by_range);
	for (size_t i = 0; i < records->count; i++) {
		if (kept > 0 && by_range(&list[kept - 1], &list[i]) == 0) {
			list[kept - 1].count += list[i].count;
			list[kept - 1].weight += list[i].weight;
			list[kept - 1].cycles += list[i].cycles;
			list[kept - 1].sampled += list[i].sampled;
		} else {
			list[kept++] = list[i];
		}
	}
	records->count = kept;
}
