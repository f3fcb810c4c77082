// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <string.h>

#include "daemon/collect/overhead.h"
#include "daemon/collect/rate_limit.h"
#include "lib/clock.h"
#include "lib/error.h"

#define GHZ 1000000000ULL
#define PIECE_NS 100000

/*
 * A simulated machine with a cost of @cost_ns per sample. One piece in @spacing has a sample;
 * @jitter: permille of noise either way; @drift: permille by which the clock slows down over all
 * pieces; @outliers, @preempted: percent of pieces that take three times as long; preempted ones
 * are marked.
 */
struct machine {
	uint64_t seed, cost_ns;
	unsigned int spacing, jitter, drift, outliers, preempted;
	unsigned int pieces, done;
};

static bool machine_work(void *context, struct overhead_piece *ret)
{
	struct machine *machine = context;
	uint64_t time = PIECE_NS;

	if (machine->done == machine->pieces)
		return false;
	machine->done++;
	time += time * machine->drift * machine->done / machine->pieces / 1000;
	if (machine->jitter > 0)
		time = time *
		       (1000 - machine->jitter +
			unit_random(&machine->seed) % (2 * machine->jitter + 1)) /
		       1000;
	ret->samples = unit_random(&machine->seed) % machine->spacing == 0;
	ret->disturbed = unit_random(&machine->seed) % 100 < machine->preempted;
	if (ret->disturbed || unit_random(&machine->seed) % 100 < machine->outliers)
		time *= 3;
	ret->time_ns = time + ret->samples * machine->cost_ns;
	return true;
}

static void costs_are_found_in_noise(void **state)
{
	static const uint64_t costs[] = {1000, 2000, 10000, 31000, 60000};
	struct overhead_cost found;
	uint64_t seed, cost;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
		for (seed = 1; seed < 200; seed++) {
			struct machine machine = {
				.seed = seed,
				.cost_ns = cost = costs[i],
				.spacing = 4 + (unsigned int)seed % 20,
				.jitter = 3,
				.drift = 200,
				.outliers = 10,
				.preempted = 30,
				.pieces = 2000,
			};

			assert_int_equal(overhead_estimate(machine_work, &machine, &found, NULL),
					 0);
			assert_in_range(found.ns, cost - cost / 10 - 100, cost + cost / 10 + 200);
			assert_in_range(found.ns, found.low_ns, found.high_ns);
		}
	}
}

static void without_noise_the_cost_is_exact(void **state)
{
	struct overhead_cost found;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed < 500; seed++) {
		struct machine machine = {
			.seed = seed, .cost_ns = seed * 100, .spacing = 4, .pieces = 1000};

		assert_int_equal(overhead_estimate(machine_work, &machine, &found, NULL), 0);
		assert_int_equal(found.ns, machine.cost_ns);
		assert_int_equal(found.low_ns, machine.cost_ns);
		assert_int_equal(found.high_ns, machine.cost_ns);
		assert_true(machine.done < 1000); /* ends when it has enough pieces */
	}
}

static void a_busy_machine_is_told(void **state)
{
	struct machine machine = {.seed = 1, .spacing = 4, .preempted = 100, .pieces = 1000};
	struct overhead_cost found = {.ns = 77};
	struct error err;

	(void)state;
	assert_int_equal(overhead_estimate(machine_work, &machine, &found, &err), -EAGAIN);
	assert_non_null(strstr(err.message, "busy"));
	machine =
		(struct machine){.seed = 1, .spacing = 1, .pieces = 1000}; /* nothing to compare */
	assert_int_equal(overhead_estimate(machine_work, &machine, &found, &err), -EAGAIN);
	assert_int_equal(found.ns, 77);
}

static void rates_keep_to_the_share(void **state)
{
	uint64_t seed = 9;
	int round;

	(void)state;
	assert_int_equal(overhead_rate(0, 1), EVENT_RATE);
	assert_int_equal(overhead_rate(10000, 1), 900);
	assert_int_equal(overhead_rate(310000, 1), OVERHEAD_RATE_MIN);
	for (round = 0; round < 100000; round++) {
		uint64_t cost = 1 + unit_random(&seed) % 100000;
		uint64_t percent = 1 + unit_random(&seed) % 100;
		uint64_t rate = overhead_rate(cost, percent);

		assert_in_range(rate, OVERHEAD_RATE_MIN, EVENT_RATE);
		assert_true(rate == OVERHEAD_RATE_MIN || rate * cost <= GHZ / 1000 * 9 * percent);
		assert_true(rate == EVENT_RATE || (rate + 1) * cost > GHZ / 1000 * 9 * percent);
	}
}

static void given_periods_are_obeyed(void **state)
{
	struct event_list list, before;
	uint64_t cost = 1;

	(void)state;
	assert_int_equal(event_list_parse(&list, "cycles:60000-64000,cpu-clock:100000", GHZ, NULL),
			 0);
	before = list;
	overhead_fit(&list, GHZ, 1, &cost);
	assert_memory_equal(&list, &before, sizeof(list));
	assert_true(cost < NS_PER_MS);
	/* In a mixed list only events without a given period change. */
	assert_int_equal(
		event_list_parse(&list, "cycles:60000-64000,cpu-clock,cache-misses", GHZ, NULL), 0);
	event_list_set_rate(&list, GHZ, 520);
	assert_int_equal(list.event[0].period_min, 60000);
	assert_int_equal(list.event[0].period_max, 64000);
	assert_int_equal(list.event[1].period_max, GHZ / 520);
	assert_int_equal(list.event[2].period_max, 655360);
}

/* 1 GHz and cycles every 62,000: 16129 per second; the clock 10,000. */
static void the_expected_cost_is_told(void **state)
{
	struct event_list list;

	(void)state;
	assert_int_equal(event_list_parse(&list, "cycles:60000-64000,cpu-clock:100000", GHZ, NULL),
			 0);
	assert_int_equal(overhead_expected(&list, GHZ, 1000), 26);
	assert_int_equal(overhead_expected(&list, GHZ, 0), 0);
	assert_int_equal(overhead_expected(&list, GHZ, 50000), 1000);
	assert_int_equal(overhead_expected(&list, UINT64_MAX, UINT64_MAX), 1000);
	assert_int_equal(event_list_parse(&list, "cpu-clock:1000000,cache-misses:1000", GHZ, NULL),
			 0);
	assert_int_equal(overhead_expected(&list, GHZ, 10000), 10);
}

/* Noise of 20% and single measurements change nothing; a lasting change is followed. */
static void changes_that_last_are_followed(void **state)
{
	struct overhead_watch watch = {.seen = 0};
	uint64_t seed = 3, fitted = 20000, changes = 0;

	(void)state;
	assert_false(overhead_watch_due(&watch, 5, 100));
	assert_false(overhead_watch_due(&watch, 104, 100));
	assert_true(overhead_watch_due(&watch, 105, 100));
	assert_false(overhead_watch_due(&watch, 106, 100));
	for (int i = 0; i < 100000; i++) {
		uint64_t cost = fitted - fitted / 5 + unit_random(&seed) % (fitted * 2 / 5);

		/* Occasionally an outlier. */
		if (i % 3 == 0)
			cost = unit_random(&seed) % (10 * fitted);
		assert_int_equal(overhead_watch_note(&watch, fitted, cost), 0);
	}
	for (int i = 0; i < 1000; i++) {
		uint64_t now = i / 100 % 2 == 0 ? 4000 : 40000;
		uint64_t change = overhead_watch_note(&watch, fitted, now);

		assert_true(change == 0 || change == now);
		changes += change != 0;
		if (change != 0)
			fitted = change;
		if (i % 100 > 0)
			assert_int_equal(fitted, now);
	}
	assert_int_equal(changes, 10);
	/* The first known cost. */
	watch = (struct overhead_watch){.seen = 0};
	assert_int_equal(overhead_watch_note(&watch, 0, 7000), 7000);
}

/* The clock can be sampled on every machine: the rate is allowed for any measured cost. */
static void this_machine_is_measured(void **state)
{
	struct event_list list;
	uint64_t cost = 0;

	(void)state;
	assert_int_equal(event_list_parse(&list, "cpu-clock", GHZ, NULL), 0);
	overhead_fit(&list, GHZ, 1, &cost);
	assert_in_range(list.event[0].period_max, GHZ / EVENT_RATE, GHZ / OVERHEAD_RATE_MIN);
	assert_true(cost < NS_PER_MS);
}

/*
 * The kernel's rule: the n-th sample in a tick throttles, n = limit / HZ rounded up. Evenly spaced
 * samples at the safe rate are not throttled at any phase.
 */
static void half_the_limit_is_not_throttled(void **state)
{
	static const uint64_t ticks[] = {100, 250, 300, 1000};
	uint64_t limit, n, tick_ns, period, phase;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
		tick_ns = GHZ / ticks[i];
		for (limit = 2 * ticks[i] + ticks[i] / 10; limit < 100000; limit += 37) {
			n = (limit + ticks[i] - 1) / ticks[i];
			period = (GHZ + rate_limit_safe(limit) - 1) / rate_limit_safe(limit);
			for (phase = 0; phase < period; phase += 1 + period / 7)
				assert_true((tick_ns - 1 - phase % tick_ns) / period + 1 < n);
		}
	}
	assert_int_equal(rate_limit_safe(0), 0);
	assert_true(rate_limit_now() > 0);
	assert_int_equal(rate_limit_read(-1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_are_found_in_noise),
		cmocka_unit_test(without_noise_the_cost_is_exact),
		cmocka_unit_test(a_busy_machine_is_told),
		cmocka_unit_test(rates_keep_to_the_share),
		cmocka_unit_test(given_periods_are_obeyed),
		cmocka_unit_test(the_expected_cost_is_told),
		cmocka_unit_test(changes_that_last_are_followed),
		cmocka_unit_test(this_machine_is_measured),
		cmocka_unit_test(half_the_limit_is_not_throttled),
	};

	return cmocka_run_group_tests_name("overhead", tests, NULL, NULL);
}
