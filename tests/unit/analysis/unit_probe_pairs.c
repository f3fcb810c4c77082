// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/frequency/call_network.h"
#include "analysis/probe_pairs.h"

#define PROCEDURES 3
#define BRANCHES 4

/* Estimated executions of branch b of procedure p; they are wrong by @factor. */
static const double factor[PROCEDURES] = {1, 2.5, 0.4};

static double executions_of(uint32_t p, uint64_t b)
{
	return 1000 * (p + 1.0) / (double)(b + 1);
}

static struct place place_at(uint32_t p, uint64_t b)
{
	return (struct place){.image = 1 + p % 2, .offset = 0x1000 * (uint64_t)(p + 1) + b};
}

/* @times: measured executions for each one of the other branch, relative to the estimates */
static void add(struct place_list *probed, uint32_t p, uint64_t b, uint32_t q, uint64_t c,
		double times)
{
	struct probed *one = place_list_add(probed);

	assert_non_null(one);
	*one = (struct probed){
		.at = place_at(p, b),
		.other = place_at(q, c),
		.procedure = p,
		.count = times * executions_of(p, b) * factor[p],
		.executions = executions_of(p, b),
		.spread = 0.1 * (double)(b + 1),
	};
}

/*
 * Add a measurement over whole periods of the reference branch, with a minimal number of periods.
 */
static void add_whole(struct place_list *probed, uint32_t p, uint64_t b, uint32_t q, uint64_t c,
		      double times)
{
	struct probed *one;

	add(probed, p, b, q, c, times);
	one = &((struct probed *)probed->items)[probed->count - 1];
	one->whole = true;
	one->spread = 0.01;
}

static const struct call_network_pair *find(const struct place_list *pairs, uint32_t p, uint32_t q)
{
	const struct call_network_pair *list = pairs->items;

	for (size_t i = 0; i < pairs->count; i++) {
		if (list[i].caller == p && list[i].callee == q)
			return &list[i];
	}
	return NULL;
}

/* All measurements of two procedures give one pair, with their relative error. */
static void test_procedures_are_compared(void **state)
{
	struct place_list probed = {.bytes = sizeof(struct probed)};
	struct place_list pairs = {.bytes = sizeof(struct call_network_pair)};

	(void)state;
	for (uint32_t p = 0; p < PROCEDURES; p++) {
		for (uint32_t q = 0; q < PROCEDURES; q++) {
			for (uint64_t b = 0; b < BRANCHES; b++) {
				/* the last two procedures were never probed together */
				if (p == q || p + q == 3)
					continue;
				add(&probed, p, b, q, b ^ 1, (double)(1 + (b & 2)));
			}
		}
	}
	assert_int_equal(probe_pairs_find(&probed, &pairs), 0);
	assert_int_equal(pairs.count, 2);
	for (uint32_t q = 1; q < PROCEDURES; q++) {
		const struct call_network_pair *pair = find(&pairs, 0, q);

		assert_non_null(pair);
		/* The callee's estimate, divided by the one expected from the caller. */
		assert_float_equal(pair->ratio, factor[0] / factor[q], 1e-6);
		assert_true(pair->spread > 0.1 && pair->spread < 0.5);
		assert_float_equal(pair->part, 0, 0);
	}
	free(probed.items);
	free(pairs.items);
}

/*
 * Measurements over whole periods of a reference branch have no bias, and are not mixed with those
 * of plain windows.
 */
static void test_complete_windows_weigh_more(void **state)
{
	struct place_list probed = {.bytes = sizeof(struct probed)};
	struct place_list pairs = {.bytes = sizeof(struct call_network_pair)};
	const struct call_network_pair *pair;

	(void)state;
	add(&probed, 0, 1, 1, 2, 1);
	add(&probed, 1, 2, 0, 1, 8);
	add_whole(&probed, 0, 1, 1, 2, 1);
	add_whole(&probed, 1, 2, 0, 1, 1);
	/* There is no measurement from the other side. */
	add_whole(&probed, 0, 3, 1, 3, 1);
	assert_int_equal(probe_pairs_find(&probed, &pairs), 0);
	assert_int_equal(pairs.count, 1);
	pair = pairs.items;
	assert_true(pair->ratio > 0.9 * factor[0] / factor[1] &&
		    pair->ratio < 1.02 * factor[0] / factor[1]);
	assert_true(pair->spread < 0.05);
	free(probed.items);
	free(pairs.items);
}

/* Measurements within one procedure, from one side only, or none at all give no pair. */
static void test_skips_windows_without_pairs(void **state)
{
	struct place_list probed = {.bytes = sizeof(struct probed)};
	struct place_list pairs = {.bytes = sizeof(struct call_network_pair)};

	(void)state;
	assert_int_equal(probe_pairs_find(&probed, &pairs), 0);
	assert_int_equal(pairs.count, 0);
	add(&probed, 0, 0, 0, 1, 1);
	add(&probed, 0, 1, 0, 0, 1);
	add(&probed, 0, 2, 1, 2, 1);
	add(&probed, 2, 2, 1, 1, 1);
	assert_int_equal(probe_pairs_find(&probed, &pairs), 0);
	assert_int_equal(pairs.count, 0);
	free(probed.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_procedures_are_compared),
		cmocka_unit_test(test_complete_windows_weigh_more),
		cmocka_unit_test(test_skips_windows_without_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
