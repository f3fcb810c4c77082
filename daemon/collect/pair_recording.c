// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/pair_recording.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"

/* Pairs are compared if their earlier samples are in the same window of code. */
#define WINDOW_SHIFT 7
/* A counter needs this number of pairs, and this part of them near its median rate. */
#define PAIRS_MIN 3
#define STEADY_PART 0.5
#define RATE_RATIO 1.6
/*
 * Where a register has other contents at each instruction, only pairs of the same two instructions
 * can be compared. There are more of these groups, so each needs more pairs.
 */
#define PLACE_PAIRS_MIN 6
#define PLACE_STEADY_PART 0.7
/*
 * Rates of counters vary more than that. Timers are late and samples get lost, so a pair may span
 * several periods. A loop may also be much slower for a while, for example if its memory is cold.
 */
#define FAST_RATIO 4.0
#define SLOW_RATIO 64.0

static int by_from(const void *a, const void *b)
{
	const struct stored_pair *x = *(const struct stored_pair *const *)a;
	const struct stored_pair *y = *(const struct stored_pair *const *)b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static int rate_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double rate_of(const struct stored_pair *pair, unsigned int reg)
{
	return pair->samples > 0 ? (double)pair->delta[reg] / (double)pair->samples : 0;
}

static bool is_like(double rate, double median, double slow, double fast)
{
	return rate * median > 0 && rate / median < fast && median / rate < slow;
}

/* struct window - pairs around the same code; @rates: room for one of each */
struct window {
	const struct stored_pair **pairs;
	size_t count;
	double *rates;
};

/* struct criterion - of counters: at least @pairs of them, and this part near the median rate */
struct criterion {
	size_t pairs;
	double part;
};

/* Return: the median rate of a register if it behaves like a counter, or 0. */
static double counter_rate(const struct window *window, unsigned int reg,
			   const struct criterion *criterion)
{
	size_t like = 0;
	double median;

	if (window->count < criterion->pairs)
		return 0;
	for (size_t i = 0; i < window->count; i++)
		window->rates[i] = rate_of(window->pairs[i], reg);
	qsort(window->rates, window->count, sizeof(*window->rates), rate_compare);
	median = window->rates[window->count / 2];
	for (size_t i = 0; i < window->count; i++)
		like += is_like(window->rates[i], median, RATE_RATIO, RATE_RATIO);
	return (double)like >= criterion->part * (double)window->count ? median : 0;
}

/* Return: 1 if it was added, 0 if the value is too large, or -ENOMEM. */
static int value_add(struct pair_recording *ret, unsigned int reg, int64_t delta)
{
	uint64_t *row;

	if (profile_signed_encode(delta) > PROFILE_RECORDING_VALUE_MAX)
		return 0;
	if (array_reserve(&ret->values, &ret->value_capacity,
			  (ret->value_count + 1) * PROFILE_VALUE_COLUMNS, sizeof(*ret->values)) < 0)
		return -ENOMEM;
	row = &ret->values[ret->value_count++ * PROFILE_VALUE_COLUMNS];
	row[PROFILE_VALUE_REGISTER] = reg;
	row[PROFILE_VALUE_DELTA] = profile_signed_encode(delta);
	return 1;
}

/* @medians: of each register's rate, 0: it is no counter */
static int pair_add(struct pair_recording *ret, const struct stored_pair *pair,
		    const double medians[REGISTER_PAIR_REGISTERS])
{
	uint64_t *row;
	int values = 0, r;

	for (unsigned int reg = 0; reg < REGISTER_PAIR_REGISTERS; reg++) {
		if (!is_like(rate_of(pair, reg), medians[reg], SLOW_RATIO, FAST_RATIO))
			continue;
		r = value_add(ret, reg, pair->delta[reg]);
		if (r < 0)
			return r;
		values += r;
	}
	if (values == 0)
		return 0;
	if (array_reserve(&ret->pairs, &ret->pair_capacity,
			  (ret->pair_count + 1) * PROFILE_PAIR_COLUMNS, sizeof(*ret->pairs)) < 0)
		return -ENOMEM;
	row = &ret->pairs[ret->pair_count++ * PROFILE_PAIR_COLUMNS];
	row[PROFILE_PAIR_FROM] = pair->from;
	row[PROFILE_PAIR_TO] = pair->to;
	row[PROFILE_PAIR_SAMPLES] = pair->samples;
	row[PROFILE_PAIR_VALUES] = (uint64_t)values;
	return 0;
}

/* Pairs of the same two instructions. @medians: of the window */
static int place_add(struct pair_recording *ret, const struct window *place,
		     const double medians[REGISTER_PAIR_REGISTERS])
{
	static const struct criterion criterion = {PLACE_PAIRS_MIN, PLACE_STEADY_PART};
	double own[REGISTER_PAIR_REGISTERS];
	int r = 0;

	for (unsigned int reg = 0; reg < REGISTER_PAIR_REGISTERS; reg++)
		own[reg] = medians[reg] != 0 ? medians[reg] : counter_rate(place, reg, &criterion);
	for (size_t i = 0; i < place->count && r == 0; i++)
		r = pair_add(ret, place->pairs[i], own);
	return r;
}

static int window_add(struct pair_recording *ret, const struct window *window)
{
	static const struct criterion criterion = {PAIRS_MIN, STEADY_PART};
	double medians[REGISTER_PAIR_REGISTERS];
	int r = 0;

	for (unsigned int reg = 0; reg < REGISTER_PAIR_REGISTERS; reg++)
		medians[reg] = counter_rate(window, reg, &criterion);
	for (size_t first = 0, end; first < window->count && r == 0; first = end) {
		const struct stored_pair *pair = window->pairs[first];

		for (end = first; end < window->count && window->pairs[end]->from == pair->from &&
				  window->pairs[end]->to == pair->to;)
			end++;
		r = place_add(ret,
			      &(struct window){&window->pairs[first], end - first, window->rates},
			      medians);
	}
	return r;
}

static struct profile_recording_table table_of(const uint64_t *values, unsigned int columns,
					       size_t rows)
{
	return (struct profile_recording_table){columns, rows, values};
}

int pair_recording_make(struct pair_recording *ret, const struct stored_pair *pairs, size_t count,
			uint64_t seen)
{
	_cleanup_free_ const struct stored_pair **sorted =
		calloc(count + 1, sizeof(const struct stored_pair *));
	_cleanup_free_ double *rates = calloc(count + 1, sizeof(*rates));
	int r = 0;

	if (sorted == NULL || rates == NULL)
		return -ENOMEM;
	ret->pair_count = ret->value_count = 0;
	for (size_t i = 0; i < count; i++)
		sorted[i] = &pairs[i];
	qsort(sorted, count, sizeof(*sorted), by_from);
	for (size_t first = 0, end; first < count && r == 0; first = end) {
		end = first + 1;
		while (end < count &&
		       sorted[end]->from >> WINDOW_SHIFT == sorted[first]->from >> WINDOW_SHIFT)
			end++;
		r = window_add(ret, &(struct window){&sorted[first], end - first, rates});
	}
	memset(ret->head, 0, sizeof(ret->head));
	ret->head[PROFILE_PAIRS_SEEN] = seen;
	ret->recording = (struct profile_recording){
		.mode = PROFILE_RECORDING_PAIRS,
		.metric = "",
		.tables = {table_of(ret->head, PROFILE_PAIRS_HEAD_COLUMNS, 1),
			   table_of(ret->pairs, PROFILE_PAIR_COLUMNS, ret->pair_count),
			   table_of(ret->values, PROFILE_VALUE_COLUMNS, ret->value_count)},
		.table_count = PROFILE_PAIRS_TABLES,
	};
	return r;
}

void pair_recording_deinit(struct pair_recording *recording)
{
	free(recording->pairs);
	free(recording->values);
	*recording = (struct pair_recording){.pair_count = 0};
}
