// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/distinct_sketch.h"

#include <string.h>

#include "db/profile_write.h"
#include "lib/partition_point.h"

/* Return: the position of the first kept hash that is not smaller. */
static uint32_t position_of(const struct distinct_sketch *sketch, uint32_t hash)
{
	return partition_point(0, sketch->kept, i, sketch->hash[i] < hash);
}

/* All comparisons are made once the ring is full; it begins with the first occurrences. */
static void recent_compare(struct distinct_sketch *sketch, uint32_t hash)
{
	uint32_t filled =
		sketch->next < DISTINCT_SKETCH_RECENT ? sketch->next : DISTINCT_SKETCH_RECENT;

	for (uint32_t i = 0; i < filled; i++)
		sketch->equal += sketch->recent[i] == hash;
	sketch->compared += filled;
	sketch->recent[sketch->next % DISTINCT_SKETCH_RECENT] = hash;
	/* Wraps around to a full ring. */
	if (++sketch->next == 2 * DISTINCT_SKETCH_RECENT)
		sketch->next = DISTINCT_SKETCH_RECENT;
}

void distinct_sketch_add(struct distinct_sketch *sketch, uint32_t hash)
{
	uint32_t at = position_of(sketch, hash), moved;

	recent_compare(sketch, hash);
	if (at < sketch->kept && sketch->hash[at] == hash) {
		sketch->times[at] += sketch->times[at] < UINT16_MAX;
		return;
	}
	if (sketch->kept == DISTINCT_SKETCH_KEPT)
		sketch->partial = true;
	else
		sketch->kept++;
	if (at == DISTINCT_SKETCH_KEPT)
		return;
	moved = sketch->kept - 1 - at;
	memmove(&sketch->hash[at + 1], &sketch->hash[at], moved * sizeof(sketch->hash[0]));
	memmove(&sketch->times[at + 1], &sketch->times[at], moved * sizeof(sketch->times[0]));
	sketch->hash[at] = hash;
	sketch->times[at] = 1;
}

struct distinct_counts distinct_sketch_counts(const struct distinct_sketch *sketch)
{
	struct distinct_counts counts = {
		.distinct = sketch->kept,
		.kept = sketch->kept,
		.compared = sketch->compared,
		.equal = sketch->equal,
	};

	for (uint32_t i = 0; i < sketch->kept; i++) {
		counts.once += sketch->times[i] == 1;
		counts.twice += sketch->times[i] == 2;
	}
	if (sketch->partial)
		counts.distinct = (uint64_t)((DISTINCT_SKETCH_KEPT - 1) * 0x1p32 /
					     (sketch->hash[DISTINCT_SKETCH_KEPT - 1] + 1.0));
	if (counts.distinct < counts.kept)
		counts.distinct = counts.kept;
	return counts;
}

void distinct_sketch_row(const struct distinct_sketch *sketch, uint64_t *row)
{
	struct distinct_counts counts = distinct_sketch_counts(sketch);

	row[PROFILE_DISTINCT_ALL] = counts.distinct;
	row[PROFILE_DISTINCT_KEPT] = counts.kept;
	row[PROFILE_DISTINCT_ONCE] = counts.once;
	row[PROFILE_DISTINCT_TWICE] = counts.twice;
	row[PROFILE_DISTINCT_COMPARED] = counts.compared;
	row[PROFILE_DISTINCT_EQUAL] = counts.equal;
}
