// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/trip_series.h"

static bool is_within(int64_t value, unsigned int bytes, bool is_signed)
{
	return value == insn_low(value, bytes, is_signed);
}

/* Truncate the values as the comparison does, or use their distance. */
static struct trip_series normalise(const struct trip_series *series)
{
	struct trip_series normal = *series;
	bool is_signed = !insn_relation_is_unsigned(series->relation);

	if (series->constant) {
		normal.start = insn_low(series->start, series->bytes, is_signed);
		normal.end = insn_low(series->end, series->bytes, is_signed);
	} else {
		normal.end = insn_low(insn_sum(series->end, insn_product(series->start, -1)),
				      series->bytes, true);
		normal.start = 0;
	}
	return normal;
}

/* Compute the distance to the end in the direction of steps. Return: false if it overflows. */
static bool find_distance(int64_t *distance, int64_t *step, const struct trip_series *series)
{
	*step = series->step;
	if (*step == 0 || *step == INT64_MIN ||
	    __builtin_sub_overflow(series->end, series->start, distance) || *distance == INT64_MIN)
		return false;
	if (*step < 0) {
		*distance = -*distance;
		*step = -*step;
	}
	return true;
}

/*
 * Return true if steps in this direction eventually end a loop that continues while @relation
 * holds.
 */
static bool leads_to_end(enum insn_relation relation, bool upward)
{
	switch (relation) {
	case INSN_RELATION_NOT_EQUAL:
		return true;
	case INSN_RELATION_BELOW:
	case INSN_RELATION_BELOW_EQUAL:
	case INSN_RELATION_LESS:
	case INSN_RELATION_LESS_EQUAL:
		return upward;
	case INSN_RELATION_ABOVE:
	case INSN_RELATION_ABOVE_EQUAL:
	case INSN_RELATION_GREATER:
	case INSN_RELATION_GREATER_EQUAL:
		return !upward;
	default:
		return false;
	}
}

/* Return the executions of the branch for numbers of unlimited size, or 0 if unknown. */
static int64_t count(const struct trip_series *series)
{
	int64_t distance, step;

	if (!leads_to_end(series->relation, series->step > 0) ||
	    !find_distance(&distance, &step, series))
		return 0;
	switch (series->relation) {
	case INSN_RELATION_NOT_EQUAL:
		return distance < 0 || distance % step != 0 ? 0 : distance / step + 1;
	case INSN_RELATION_BELOW_EQUAL:
	case INSN_RELATION_ABOVE_EQUAL:
	case INSN_RELATION_LESS_EQUAL:
	case INSN_RELATION_GREATER_EQUAL:
		return distance < 0 ? 1 : distance / step + 2;
	default:
		return distance <= 0 ? 1 : (distance - 1) / step + 2;
	}
}

/*
 * If fewer bytes are known than compared, return true if the others are 0 because the numbers are
 * small.
 */
static bool is_small(const struct trip_series *series, int64_t last)
{
	return series->known >= series->bytes ||
	       (series->constant && series->start >= 0 && last >= 0 &&
		is_within(series->start, series->known, true) &&
		is_within(last, series->known, true));
}

int64_t trip_series_trips(const struct trip_series *series)
{
	struct trip_series normal = normalise(series);
	int64_t trips = count(&normal), last;

	if (trips <= 0 || trips > TRIP_SERIES_MAX ||
	    __builtin_mul_overflow(trips - 1, normal.step, &last) ||
	    __builtin_add_overflow(last, normal.start, &last) || !is_small(&normal, last))
		return 0;
	if (series->constant &&
	    !is_within(last, series->bytes, !insn_relation_is_unsigned(series->relation)))
		return 0;
	return trips;
}

bool trip_series_is_skipped(const struct trip_series *series)
{
	struct trip_series before = *series;

	before.start = insn_sum(before.start, insn_product(before.step, -1));
	return trip_series_trips(&before) == 1;
}

enum insn_relation trip_series_mirror(enum insn_relation relation)
{
	switch (relation) {
	case INSN_RELATION_BELOW:
		return INSN_RELATION_ABOVE;
	case INSN_RELATION_BELOW_EQUAL:
		return INSN_RELATION_ABOVE_EQUAL;
	case INSN_RELATION_ABOVE:
		return INSN_RELATION_BELOW;
	case INSN_RELATION_ABOVE_EQUAL:
		return INSN_RELATION_BELOW_EQUAL;
	case INSN_RELATION_LESS:
		return INSN_RELATION_GREATER;
	case INSN_RELATION_LESS_EQUAL:
		return INSN_RELATION_GREATER_EQUAL;
	case INSN_RELATION_GREATER:
		return INSN_RELATION_LESS;
	case INSN_RELATION_GREATER_EQUAL:
		return INSN_RELATION_LESS_EQUAL;
	default:
		return relation;
	}
}
