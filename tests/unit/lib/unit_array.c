// SPDX-License-Identifier: GPL-2.0-only
/* Sorting of nearly sorted arrays. */
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "lib/array.h"

#define COUNT 3000

static size_t compared;

static int by_value(const void *a, const void *b)
{
	const int *x = a, *y = b;

	compared++;
	return (*x > *y) - (*x < *y);
}

static void check(const int *values, size_t count)
{
	int sorted[COUNT], expected[COUNT];

	memcpy(sorted, values, count * sizeof(*values));
	memcpy(expected, values, count * sizeof(*values));
	qsort(expected, count, sizeof(*expected), by_value);
	compared = 0;
	array_sort(sorted, count, sizeof(*sorted), by_value);
	assert_memory_equal(sorted, expected, count * sizeof(*expected));
}

static void test_sorted_array_takes_linear_time(void **state)
{
	int values[COUNT];

	(void)state;
	for (int i = 0; i < COUNT; i++)
		values[i] = i / 3;
	check(values, COUNT);
	assert_int_equal(compared, COUNT - 1);
	array_sort(NULL, 0, sizeof(int), by_value);
	array_sort(values, 1, sizeof(int), by_value);
}

/* As a linker leaves symbols: parts of procedures are far from their procedures. */
static void test_interleaved_runs_take_few_comparisons(void **state)
{
	int values[COUNT];

	(void)state;
	for (int i = 0; i < COUNT; i++)
		values[i] = i % 10 == 0 ? i - 5000 : i % 10 == 1 ? i - 9000 : i;
	check(values, COUNT);
	assert_true(compared < 5 * COUNT);
}

static void test_sorts_any_order(void **state)
{
	int values[COUNT];

	(void)state;
	for (size_t round = 0; round < 2000; round++) {
		size_t count = 1 + round % 40;

		for (size_t i = 0; i < count; i++)
			values[i] = rand() % (round % 3 == 0 ? 5 : 1000);
		check(values, count);
	}
	for (int i = 0; i < COUNT; i++)
		values[i] = -i;
	check(values, COUNT);
	values[0] = COUNT; /* all others are out of order */
	for (int i = 1; i < COUNT; i++)
		values[i] = i;
	check(values, COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted_array_takes_linear_time),
		cmocka_unit_test(test_interleaved_runs_take_few_comparisons),
		cmocka_unit_test(test_sorts_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
