// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/pair_recording.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"

/*
 * Pairs are compared if their earlier samples are in the same window of code. In large loops, a
 * window has few pairs. So values are also compared in all windows of a region: that of a frame is
 * the same in all code of its procedure, and compilers keep counters of loops in one register.
 */
#define WINDOW_SHIFT 7
#define REGION_SHIFT 12
#define REGION_PAIRS_MIN 8
#define REGION_STEADY_PART 0.6
/* No counter changes faster: 2^33 iterations in a sampling period, by pages. */
#define RATE_MAX ((double)(UINT64_C(1) << 45))
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
 * The rate of a loop that waits for memory depends on other programs, and that of a loop that waits
 * for another thread on whether this thread runs. A counter of such a loop is known by its
 * direction. A random value has nearly all of MONOTONIC_PAIRS_MIN differences of one sign about
 * once in 300,000 cases.
 */
#define MONOTONIC_PAIRS_MIN 24
#define MONOTONIC_PART 0.95
#define MONOTONIC_RATIO 64.0
#define MONOTONIC_NEAR_PART 0.8
/*
 * Rates of counters vary more than that. Timers are late and samples get lost, so a pair may span
 * several periods. A loop may also be much faster for a while, for example if other programs do not
 * use the cache that its data is in. It may be slower by any factor: a thread that waits in the
 * loop makes no iteration.
 */
#define FAST_RATIO 64.0

static bool has_words(const struct stored_pair *pair)
{
	return pair->word_count > 0;
}

/* Pairs of words of memory follow those of registers. */
static int by_from(const void *a, const void *b)
{
	const struct stored_pair *x = *(const struct stored_pair *const *)a;
	const struct stored_pair *y = *(const struct stored_pair *const *)b;

	if (has_words(x) != has_words(y))
		return has_words(x) ? 1 : -1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static int rate_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* @value: a register, or a word of memory */
static int64_t delta_of(const struct stored_pair *pair, unsigned int value)
{
	if (value < REGISTER_PAIR_REGISTERS)
		return pair->delta[value];
	for (uint32_t i = 0; i < pair->word_count; i++) {
		if (pair->words[i].number == value)
			return pair->words[i].delta;
	}
	return 0;
}

static double rate_of(const struct stored_pair *pair, unsigned int value)
{
	return pair->samples > 0 ? (double)delta_of(pair, value) / (double)pair->samples : 0;
}

static bool is_like(double rate, double median, double ratio)
{
	return rate * median > 0 && rate / median < ratio && median / rate < ratio;
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

/* Return: true if a change may be one of a counter. @median: 0: the value is not a counter */
static bool is_of_counter(double rate, double median)
{
	return median != 0 && rate * median >= 0 && rate / median < FAST_RATIO;
}

/* Return: true if at least @part of the rates are near the median. @ratio: limit of "near" */
static bool is_steady(const struct window *window, double median, double ratio, double part)
{
	size_t like = 0;

	for (size_t i = 0; i < window->count; i++)
		like += is_like(window->rates[i], median, ratio);
	return (double)like >= part * (double)window->count;
}

/* @window: with sorted rates */
static bool is_monotonic(const struct window *window, double median)
{
	size_t same = 0;

	if (window->count < MONOTONIC_PAIRS_MIN ||
	    !is_steady(window, median, MONOTONIC_RATIO, MONOTONIC_NEAR_PART))
		return false;
	for (size_t i = 0; i < window->count; i++)
		same += window->rates[i] * median > 0;
	return (double)same >= MONOTONIC_PART * (double)window->count;
}

static double window_median(const struct window *window)
{
	double median;

	qsort(window->rates, window->count, sizeof(*window->rates), rate_compare);
	median = window->rates[window->count / 2];
	return fabs(median) <= RATE_MAX ? median : 0;
}

/* Return: the median rate of a value if it behaves like a counter, or 0. */
static double counter_rate(const struct window *window, unsigned int value,
			   const struct criterion *criterion)
{
	struct window changed = {.rates = window->rates};
	double median;

	if (window->count < criterion->pairs ||
	    has_words(window->pairs[0]) != (value >= REGISTER_PAIR_REGISTERS))
		return 0;
	for (size_t i = 0; i < window->count; i++) {
		double rate = rate_of(window->pairs[i], value);

		if (rate != 0)
			changed.rates[changed.count++] = rate;
	}
	/* Most registers do not change, or rarely. */
	if ((double)changed.count < criterion->part * (double)window->count) {
		if (changed.count < MONOTONIC_PAIRS_MIN)
			return 0;
		median = window_median(&changed);
		return is_monotonic(&changed, median) ? median : 0;
	}
	memset(&window->rates[changed.count], 0,
	       (window->count - changed.count) * sizeof(*window->rates));
	median = window_median(window);
	if (is_steady(window, median, RATE_RATIO, criterion->part) || is_monotonic(window, median))
		return median;
	return 0;
}

/* Return: 1 if it was added, 0 if the value is too large, or -ENOMEM. */
static int value_add(struct pair_recording *ret, unsigned int value, int64_t delta)
{
	uint64_t *row;

	if (profile_signed_encode(delta) > PROFILE_RECORDING_VALUE_MAX)
		return 0;
	if (array_reserve(&ret->values, &ret->value_capacity,
			  (ret->value_count + 1) * PROFILE_VALUE_COLUMNS, sizeof(*ret->values)) < 0)
		return -ENOMEM;
	row = &ret->values[ret->value_count++ * PROFILE_VALUE_COLUMNS];
	row[PROFILE_VALUE_REGISTER] = value;
	row[PROFILE_VALUE_DELTA] = profile_signed_encode(delta);
	return 1;
}

/* @medians: median rate of each value; 0 if the value is not a counter */
static int pair_add(struct pair_recording *ret, const struct stored_pair *pair,
		    const double medians[PROFILE_WORD_END])
{
	uint64_t *row;
	int values = 0, r;

	for (unsigned int value = 0; value < PROFILE_WORD_END; value++) {
		/* Words that did not change are not known to be in the pair. */
		if (!is_of_counter(rate_of(pair, value), medians[value]) ||
		    (has_words(pair) && delta_of(pair, value) == 0))
			continue;
		r = value_add(ret, value, delta_of(pair, value));
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
		     const double medians[PROFILE_WORD_END])
{
	static const struct criterion criterion = {PLACE_PAIRS_MIN, PLACE_STEADY_PART};
	double own[PROFILE_WORD_END];
	int r = 0;

	for (unsigned int value = 0; value < PROFILE_WORD_END; value++)
		own[value] = medians[value] != 0 ? medians[value]
						 : counter_rate(place, value, &criterion);
	for (size_t i = 0; i < place->count && r == 0; i++)
		r = pair_add(ret, place->pairs[i], own);
	return r;
}

/* @region: medians around the window */
static int window_add(struct pair_recording *ret, const struct window *window,
		      const double region[PROFILE_WORD_END])
{
	static const struct criterion criterion = {PAIRS_MIN, STEADY_PART};
	double medians[PROFILE_WORD_END];
	int r = 0;

	for (unsigned int value = 0; value < PROFILE_WORD_END; value++) {
		medians[value] = counter_rate(window, value, &criterion);
		if (medians[value] == 0)
			medians[value] = region[value];
	}
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

/* Return: the end of the pairs whose earlier samples are in the same 2^@shift bytes as the first.
 */
static size_t window_end(const struct stored_pair *const *sorted, size_t first, size_t count,
			 unsigned int shift)
{
	size_t end = first + 1;

	while (end < count && has_words(sorted[end]) == has_words(sorted[first]) &&
	       sorted[end]->from >> shift == sorted[first]->from >> shift)
		end++;
	return end;
}

static int region_add(struct pair_recording *ret, const struct window *region)
{
	static const struct criterion criterion = {REGION_PAIRS_MIN, REGION_STEADY_PART};
	double medians[PROFILE_WORD_END];
	int r = 0;

	for (unsigned int value = 0; value < PROFILE_WORD_END; value++)
		medians[value] = counter_rate(region, value, &criterion);
	for (size_t first = 0, end; first < region->count && r == 0; first = end) {
		end = window_end(region->pairs, first, region->count, WINDOW_SHIFT);
		r = window_add(ret,
			       &(struct window){&region->pairs[first], end - first, region->rates},
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
		end = window_end(sorted, first, count, REGION_SHIFT);
		r = region_add(ret, &(struct window){&sorted[first], end - first, rates});
	}
	memset(ret->head, 0, sizeof(ret->head));
	ret->head[PROFILE_PAIRS_SEEN] = seen;
	ret->head[PROFILE_PAIRS_SELECTED] = count;
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
