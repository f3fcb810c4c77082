// SPDX-License-Identifier: GPL-2.0-only
/* Computed trip counts, compared with simulated loops over one-byte numbers, exhaustively. */
#include "tests/lib/unit.h"

#include <stdbool.h>

#include "analysis/graph/trip_series.h"

#define NUMBERS 256
#define FOREVER 0

static const enum insn_relation relations[] = {
	INSN_RELATION_EQUAL,	     INSN_RELATION_NOT_EQUAL,  INSN_RELATION_BELOW,
	INSN_RELATION_BELOW_EQUAL,   INSN_RELATION_ABOVE,      INSN_RELATION_ABOVE_EQUAL,
	INSN_RELATION_LESS,	     INSN_RELATION_LESS_EQUAL, INSN_RELATION_GREATER,
	INSN_RELATION_GREATER_EQUAL,
};

static bool holds(enum insn_relation relation, uint8_t a, uint8_t b)
{
	switch (relation) {
	case INSN_RELATION_EQUAL:
		return a == b;
	case INSN_RELATION_NOT_EQUAL:
		return a != b;
	case INSN_RELATION_BELOW:
		return a < b;
	case INSN_RELATION_BELOW_EQUAL:
		return a <= b;
	case INSN_RELATION_ABOVE:
		return a > b;
	case INSN_RELATION_ABOVE_EQUAL:
		return a >= b;
	case INSN_RELATION_LESS:
		return (int8_t)a < (int8_t)b;
	case INSN_RELATION_LESS_EQUAL:
		return (int8_t)a <= (int8_t)b;
	case INSN_RELATION_GREATER:
		return (int8_t)a > (int8_t)b;
	case INSN_RELATION_GREATER_EQUAL:
		return (int8_t)a >= (int8_t)b;
	default:
		return false;
	}
}

/* Count executions of the branch; FOREVER: the loop never ends. */
static int64_t go_round(enum insn_relation relation, uint8_t start, uint8_t step, uint8_t end)
{
	uint8_t value = start;

	for (int64_t trips = 1; trips <= NUMBERS; trips++) {
		if (!holds(relation, value, end))
			return trips;
		value = (uint8_t)(value + step);
	}
	return FOREVER;
}

static struct trip_series series_of(enum insn_relation relation, int64_t start, int64_t step,
				    int64_t end)
{
	return (struct trip_series){.relation = relation,
				    .start = start,
				    .step = step,
				    .end = end,
				    .bytes = 1,
				    .known = 1,
				    .constant = true};
}

static void test_trips_agree_with_execution(void **state)
{
	uint64_t known = 0, all = 0;

	(void)state;
	for (size_t r = 0; r < sizeof(relations) / sizeof(*relations); r++) {
		for (uint32_t i = 0; i < NUMBERS * NUMBERS; i++) {
			for (int step = -9; step <= 9; step++) {
				uint8_t start = (uint8_t)i, end = (uint8_t)(i >> 8);
				struct trip_series series =
					series_of(relations[r], (int8_t)start, step, (int8_t)end);
				int64_t trips = trip_series_trips(&series);
				int64_t truth = go_round(relations[r], start, (uint8_t)step, end);

				all++;
				known += trips != 0;
				if (trips != 0 && trips != truth)
					fail_msg("relation %d: %d, %d .. %d: %ld trips, not %ld",
						 relations[r], start, step, end, (long)trips,
						 (long)truth);
			}
		}
	}
	/* Half of the steps lead away from the end, and some loops wrap around. */
	assert_true(known * 10 > all * 3);
}

/*
 * Loops from a start to an end in the direction of the step, as compilers generate them, are always
 * known.
 */
static void test_usual_loops(void **state)
{
	(void)state;
	for (int start = 0; start < 100; start++) {
		for (int end = start + 1; end < 110; end++) {
			struct trip_series below = series_of(INSN_RELATION_BELOW, start, 1, end);
			struct trip_series until =
				series_of(INSN_RELATION_NOT_EQUAL, end, -1, start);
			struct trip_series down =
				series_of(INSN_RELATION_GREATER_EQUAL, end, -3, start);

			assert_int_equal(trip_series_trips(&below), end - start + 1);
			assert_int_equal(trip_series_trips(&until), end - start + 1);
			assert_int_equal(trip_series_trips(&down), (end - start) / 3 + 2);
		}
	}
}

/* Only distances of pointers are known; pointers do not wrap around. */
static void test_distances(void **state)
{
	struct trip_series series = {.relation = INSN_RELATION_BELOW,
				     .start = 0x7ffffff0,
				     .step = 16,
				     .end = INT64_C(0x7ffffff0) + 160,
				     .bytes = 8,
				     .known = 8};

	(void)state;
	assert_int_equal(trip_series_trips(&series), 11);
	series.relation = INSN_RELATION_NOT_EQUAL;
	assert_int_equal(trip_series_trips(&series), 11);
	series.end++;
	assert_int_equal(trip_series_trips(&series), 0);
	/* If only 4 bytes of each are known, their distance is unknown. */
	series.end--;
	series.known = 4;
	assert_int_equal(trip_series_trips(&series), 0);
}

/* for (i = start; i < end; i++), tested at its end: i + 1 is compared first. */
static void test_loops_without_iterations(void **state)
{
	(void)state;
	for (int start = 0; start < 50; start++) {
		for (int end = 0; end < 50; end++) {
			struct trip_series below =
				series_of(INSN_RELATION_BELOW, start + 1, 1, end);
			struct trip_series up_to =
				series_of(INSN_RELATION_LESS_EQUAL, start + 1, 1, end);

			assert_int_equal(trip_series_is_skipped(&below), start >= end);
			assert_int_equal(trip_series_is_skipped(&up_to), start > end);
		}
	}
}

static void test_extended_numbers(void **state)
{
	struct trip_series series = series_of(INSN_RELATION_LESS, 0, 1, 100);

	(void)state;
	series.bytes = 8;
	assert_int_equal(trip_series_trips(&series), 101);
	series.end = 200;
	assert_int_equal(trip_series_trips(&series), 0);
	series.known = 4;
	assert_int_equal(trip_series_trips(&series), 201);
	series.start = -1;
	assert_int_equal(trip_series_trips(&series), 0);
}

static void test_limits(void **state)
{
	static const int64_t values[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX};
	struct trip_series series = {.bytes = 8, .known = 8};

	(void)state;
	for (uint32_t i = 0; i < 4320; i++) {
		series.relation = relations[i / 216 % 10];
		series.constant = i / 2160 != 0;
		series.start = values[i % 6];
		series.step = values[i / 6 % 6];
		series.end = values[i / 36 % 6];
		assert_in_range(trip_series_trips(&series), 0, TRIP_SERIES_MAX);
		(void)trip_series_is_skipped(&series);
	}
}

static void test_swapped_operands(void **state)
{
	(void)state;
	for (size_t r = 0; r < sizeof(relations) / sizeof(*relations); r++) {
		for (uint32_t i = 0; i < NUMBERS * NUMBERS; i++)
			assert_true(holds(relations[r], (uint8_t)i, (uint8_t)(i >> 8)) ==
				    holds(trip_series_mirror(relations[r]), (uint8_t)(i >> 8),
					  (uint8_t)i));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trips_agree_with_execution),
		cmocka_unit_test(test_usual_loops),
		cmocka_unit_test(test_distances),
		cmocka_unit_test(test_loops_without_iterations),
		cmocka_unit_test(test_extended_numbers),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_swapped_operands),
	};

	return cmocka_run_group_tests_name("trip_series", tests, NULL, NULL);
}
