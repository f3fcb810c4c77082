// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/unit.h"

#include "tools/export/call_order.h"

#define COUNT 4

static void expect_order(const struct call_order_procedure *procedures,
			 struct call_order_call *calls, size_t call_count, const uint32_t *want)
{
	uint32_t order[COUNT];

	assert_int_equal(call_order_find(order, procedures, COUNT, calls, call_count), 0);
	assert_memory_equal(order, want, sizeof(order));
}

static void test_places_dense_procedures_first_without_calls(void **state)
{
	const struct call_order_procedure procedures[COUNT] = {
		{100, 10}, {10, 10}, {100, 50}, {1000, 60}};

	(void)state;
	expect_order(procedures, NULL, 0, (const uint32_t[]){1, 2, 0, 3});
}

static void test_places_callee_after_hottest_caller(void **state)
{
	const struct call_order_procedure procedures[COUNT] = {
		{100, 10}, {100, 90}, {100, 100}, {100, 20}};
	/* Two calls of a pair add up; a procedure's own calls do not count. */
	struct call_order_call calls[] = {{3, 2, 6}, {0, 2, 9}, {3, 2, 4}, {2, 2, 99}, {3, 0, 0}};

	(void)state;
	expect_order(procedures, calls, 5, (const uint32_t[]){1, 3, 2, 0});
}

static void test_keeps_clusters_within_a_page(void **state)
{
	const struct call_order_procedure procedures[COUNT] = {
		{4000, 80}, {97, 100}, {96, 90}, {10, 0.01}};
	struct call_order_call calls[] = {{0, 1, 10}, {0, 2, 10}};

	(void)state;
	/* 0 and 2 fit into a page, 0 and 1 do not. */
	expect_order(procedures, calls, 2, (const uint32_t[]){1, 0, 2, 3});
}

static void test_ends_with_recursive_calls(void **state)
{
	const struct call_order_procedure procedures[COUNT] = {
		{10, 40}, {10, 30}, {10, 20}, {10, 10}};
	struct call_order_call calls[] = {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 0, 1}};

	(void)state;
	/* 0 is appended to 3; 1 and 2 are appended to what precedes them. */
	expect_order(procedures, calls, 4, (const uint32_t[]){3, 0, 1, 2});
}

/* Any input yields each procedure once. */
static void test_places_each_procedure_once(void **state)
{
	enum {
		MANY = 300
	};
	struct call_order_procedure procedures[MANY];
	struct call_order_call calls[4 * MANY];
	uint32_t order[MANY];

	(void)state;
	for (unsigned int seed = 1; seed <= 20; seed++) {
		bool seen[MANY] = {false};

		srand(seed);
		for (size_t i = 0; i < MANY; i++)
			procedures[i] = (struct call_order_procedure){
				.bytes = 1 + (uint64_t)rand() % 2000, .weight = rand() % 100};
		for (size_t i = 0; i < 4 * MANY; i++)
			calls[i] = (struct call_order_call){.caller = (uint32_t)rand() % MANY,
							    .callee = (uint32_t)rand() % MANY,
							    .count = rand() % 50};
		assert_int_equal(call_order_find(order, procedures, MANY, calls, 4 * MANY), 0);
		for (size_t i = 0; i < MANY; i++) {
			assert_in_range(order[i], 0, MANY - 1);
			assert_false(seen[order[i]]);
			seen[order[i]] = true;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places_dense_procedures_first_without_calls),
		cmocka_unit_test(test_places_callee_after_hottest_caller),
		cmocka_unit_test(test_keeps_clusters_within_a_page),
		cmocka_unit_test(test_ends_with_recursive_calls),
		cmocka_unit_test(test_places_each_procedure_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
