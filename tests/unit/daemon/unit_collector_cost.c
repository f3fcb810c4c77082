// SPDX-License-Identifier: GPL-2.0-only
/* The share of the bound of the total cost that probes get. */
#include "tests/lib/unit.h"

#include <stdlib.h>

#include "daemon/collect/collector_cost.h"
#include "lib/clock.h"

/* CPU time of one-time work. */
#define ONCE_NS (200 * NS_PER_MS)

static struct collector_cost random_cost(void)
{
	return (struct collector_cost){
		.program_ns = NS_PER_SECOND + (uint64_t)rand() % (100 * NS_PER_SECOND),
		.samples_max_ns = (uint64_t)rand() % (3 * NS_PER_SECOND),
		.once_ns = ONCE_NS,
		.snapshots_ns = (uint64_t)rand() % NS_PER_SECOND,
		.probes_ns = (uint64_t)rand() % (3 * NS_PER_SECOND),
		.processes_ns = ONCE_NS + (uint64_t)rand() % NS_PER_SECOND,
	};
}

static void shares_keep_to_the_bound(void **state)
{
	(void)state;
	srand(1);
	for (int i = 0; i < 100000; i++) {
		struct collector_cost cost = random_cost();
		uint32_t permille = 1 + (uint32_t)rand() % 1000;
		uint64_t share = collector_cost_share(&cost, permille, 50);
		uint64_t bound = cost.program_ns / 1000 * permille;
		uint64_t once_ns = ONCE_NS < bound / 2 ? ONCE_NS : bound / 2;
		uint64_t others = cost.samples_max_ns + cost.snapshots_ns + cost.processes_ns -
				  ONCE_NS + once_ns;

		assert_true(share <= 50);
		if (share > 0) {
			assert_true(others + cost.program_ns / 1000 * share <= bound);
			assert_true(others + cost.probes_ns < bound);
		}
	}
}

static void more_cost_means_a_smaller_share(void **state)
{
	struct collector_cost cost = {.program_ns = 10 * NS_PER_SECOND};

	(void)state;
	/* 5% of 10 s are 500 ms. */
	assert_int_equal(collector_cost_share(&cost, 50, 50), 50);
	cost.samples_max_ns = 200 * NS_PER_MS;
	assert_int_equal(collector_cost_share(&cost, 50, 50), 30);
	cost.processes_ns = 100 * NS_PER_MS;
	assert_int_equal(collector_cost_share(&cost, 50, 50), 20);
	cost.probes_ns = 199 * NS_PER_MS;
	assert_int_equal(collector_cost_share(&cost, 50, 50), 20);
	cost.probes_ns = 200 * NS_PER_MS;
	assert_int_equal(collector_cost_share(&cost, 50, 50), 0);
}

/* One-time work takes half of the bound, until all of it is in the total. */
static void work_done_once_is_paid_for(void **state)
{
	struct collector_cost cost = {
		.program_ns = 4 * NS_PER_SECOND, .once_ns = ONCE_NS, .processes_ns = ONCE_NS};

	(void)state;
	assert_int_equal(collector_cost_share(&cost, 50, 50), 25);
	cost.program_ns = 8 * NS_PER_SECOND;
	assert_int_equal(collector_cost_share(&cost, 50, 50), 25);
	cost.program_ns = 20 * NS_PER_SECOND;
	assert_int_equal(collector_cost_share(&cost, 50, 50), 40);
}

/* Before the costs are known, probes get half of the bound. */
static void a_program_that_begins_gets_half(void **state)
{
	const struct collector_cost cost = {.program_ns = NS_PER_MS, .samples_max_ns = NS_PER_MS};

	(void)state;
	assert_int_equal(collector_cost_share(&cost, 50, 50), 25);
	assert_int_equal(collector_cost_share(&cost, 50, 10), 10);
}

/* A program runs; each interpreted sample costs as much as the limit allows for @every samples. */
static uint32_t settle(uint64_t limit_every, uint32_t least)
{
	struct collector_cost cost = {.program_ns = 0};
	uint32_t every = least;

	for (int i = 0; i < 1000; i++) {
		cost.program_ns += NS_PER_SECOND;
		/* At 100 permille */
		cost.snapshots_ns += NS_PER_SECOND / 10 * limit_every / every;
		every = collector_cost_every(&cost, 100, every, least);
		assert_true(every >= least && every <= 64);
	}
	/* Later changes are slow, so that the whole run is near the limit. */
	if (limit_every <= 64)
		assert_true(cost.snapshots_ns <= cost.program_ns / 10 * 11 / 10);
	return every;
}

static void interpretation_keeps_to_the_bound(void **state)
{
	struct collector_cost cost = {.program_ns = NS_PER_SECOND, .snapshots_ns = 90 * NS_PER_MS};

	(void)state;
	/* Between three quarters of the limit and the limit nothing changes. */
	assert_int_equal(collector_cost_every(&cost, 100, 4, 1), 4);
	cost.snapshots_ns = 101 * NS_PER_MS;
	assert_int_equal(collector_cost_every(&cost, 100, 4, 1), 8);
	assert_int_equal(collector_cost_every(&cost, 100, 64, 1), 64);
	cost.snapshots_ns = 74 * NS_PER_MS;
	assert_int_equal(collector_cost_every(&cost, 100, 4, 1), 2);
	assert_int_equal(collector_cost_every(&cost, 100, 4, 3), 3);
	assert_int_equal(collector_cost_every(&cost, 100, 3, 3), 3);
	/* Probes have their own control. */
	cost.probes_ns = NS_PER_SECOND;
	assert_int_equal(collector_cost_every(&cost, 100, 1, 1), 1);
	/* Without interpretation, or before the cost is known, nothing changes. */
	cost.snapshots_ns = NS_PER_SECOND;
	assert_int_equal(collector_cost_every(&cost, 100, 0, 0), 0);
	cost.program_ns = NS_PER_MS;
	assert_int_equal(collector_cost_every(&cost, 100, 2, 1), 2);

	assert_int_equal(settle(1, 1), 1);
	assert_in_range(settle(10, 1), 4, 32);
	assert_int_equal(settle(1000, 1), 64);
}

/*
 * Return the permille of a program's CPU time that drains of a constant cost take in a minute. They
 * occur at intervals of 20 ms, whether or not the program gets a CPU.
 */
static uint64_t drains_cost(uint64_t drain_ns, uint64_t program_ns_per_second)
{
	struct collector_cost cost = {.program_ns = 0};
	uint32_t pace = 1;

	for (int second = 0; second < 60; second++) {
		cost.program_ns += program_ns_per_second;
		cost.processes_ns += 50 / pace * drain_ns;
		pace = collector_cost_pace(&cost, 50, pace);
		assert_in_range(pace, 1, COLLECTOR_PACE_MAX);
	}
	return cost.processes_ns * 1000 / cost.program_ns;
}

static void drains_keep_to_the_bound(void **state)
{
	(void)state;
	assert_int_equal(drains_cost(200000, NS_PER_SECOND), 10);
	/* Without a change: twice the limit, and four times */
	assert_in_range(drains_cost(200000, NS_PER_SECOND / 10), 30, 55);
	assert_in_range(drains_cost(400000, NS_PER_SECOND / 10), 30, 55);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_keep_to_the_bound),
		cmocka_unit_test(more_cost_means_a_smaller_share),
		cmocka_unit_test(interpretation_keeps_to_the_bound),
		cmocka_unit_test(drains_keep_to_the_bound),
		cmocka_unit_test(work_done_once_is_paid_for),
		cmocka_unit_test(a_program_that_begins_gets_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
