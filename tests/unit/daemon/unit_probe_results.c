// SPDX-License-Identifier: GPL-2.0-only
/*
 * Results of probe windows, from simulated windows of branches with known behavior, and the
 * selection of the next branches to probe.
 */
#include "tests/lib/unit.h"

#include <string.h>

#include "daemon/source/probe_results.h"
#include "daemon/source/source.h"
#include "db/profile.h"
#include "lib/clock.h"

#define PID 77
#define START_NS 1000000000ULL
#define BRANCHES 3

/* struct scene - some branches, 256 bytes apart, and the results of a window with them */
struct scene {
	struct branch_probe probes[BRANCHES];
	struct branch_window windows[BRANCHES];
	struct probe_window window;
	struct branch_history history;
	struct probe_results results;
};

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	for (size_t i = 0; i < BRANCHES; i++)
		scene->probes[i] =
			(struct branch_probe){.pid = PID,
					      .address = 0x1000 + i * 256,
					      .targets = {0x1002 + i * 256, 0x1040 + i * 256}};
	scene->window = (struct probe_window){.probes = scene->probes,
					      .windows = scene->windows,
					      .count = BRANCHES,
					      .start_ns = START_NS};
	scene->history = (struct branch_history){.random = 5, .eagerness = 1};
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	branch_history_deinit(&scene->history);
	free(scene);
	return 0;
}

/* Execute a branch during the whole window, or from @from_ns to its end. */
static void execute(struct scene *scene, size_t i, uint64_t not_taken, uint64_t taken,
		    uint64_t from_ns)
{
	scene->windows[i] = (struct branch_window){
		.counts = {not_taken, taken},
		.first_ns = START_NS + from_ns,
		.last_ns = START_NS + scene->window.ns,
	};
}

static uint64_t told(const struct scene *scene, uint32_t event, size_t i, uint64_t to)
{
	uint64_t sum = 0;

	for (uint32_t k = 0; k < scene->results.count; k++) {
		const struct branch_probe_result *result = &scene->results.item[k];

		assert_int_equal(result->pid, PID);
		assert_int_equal(result->time_ns, START_NS);
		assert_true(result->count > 0);
		if (result->event == event && result->from == scene->probes[i].address &&
		    result->to == to)
			sum += result->count;
	}
	return sum;
}

static void tell(struct scene *scene)
{
	probe_results_add(&scene->results, &scene->history, &scene->window);
}

/* 3 in 8: as counts of at most a hundred executions, as exact fractions of one, and in total. */
static void ways_are_weighed(void **state)
{
	struct scene *scene = *state;
	const struct branch_probe *first = &scene->probes[0];

	scene->window.ns = scene->window.taken_ns = 3 * NS_PER_MS;
	execute(scene, 0, 1250, 750, 0);
	tell(scene);
	assert_true(told(scene, SOURCE_EVENT_PROBE, 0, first->targets[1]) - 37 <= 1);
	assert_int_equal(told(scene, SOURCE_EVENT_PROBE, 0, first->targets[0]) +
				 told(scene, SOURCE_EVENT_PROBE, 0, first->targets[1]),
			 100);
	assert_int_equal(told(scene, SOURCE_EVENT_WEIGHTED, 0, first->targets[0]), 6250);
	assert_int_equal(told(scene, SOURCE_EVENT_WEIGHTED, 0, first->targets[1]), 3750);
	assert_int_equal(told(scene, SOURCE_EVENT_WEIGHTED, 0, first->address), 2000);
	assert_int_equal(told(scene, SOURCE_EVENT_SECOND_MOMENT, 0, first->targets[1]),
			 3750 * 3750);
	assert_int_equal(told(scene, SOURCE_EVENT_SECOND_MOMENT, 0, first->address), 3750 * 6250);
	assert_int_equal(told(scene, SOURCE_EVENT_SAME_WINDOW, 0, first->address), 1);
	assert_int_equal(told(scene, SOURCE_EVENT_SAME_WINDOW, 1, scene->probes[1].address), 0);
}

/* One in a thousand executions is not a whole one in a hundred, but a fraction of it. */
static void rare_ways_are_not_lost(void **state)
{
	struct scene *scene = *state;
	uint64_t whole;

	scene->window.ns = scene->window.taken_ns = 3 * NS_PER_MS;
	execute(scene, 0, 999, 1, 0);
	for (int i = 0; i < 400; i++) {
		tell(scene);
		scene->results.count = i < 399 ? 0 : scene->results.count;
	}
	assert_int_equal(told(scene, SOURCE_EVENT_WEIGHTED, 0, scene->probes[0].targets[1]), 10);
	whole = told(scene, SOURCE_EVENT_PROBE, 0, scene->probes[0].targets[1]);
	assert_true(whole <= 1);
}

/*
 * The program stayed at the first branch, and reached the second one after that loop. The start of
 * a loop is not typical, so it does not count. If probes take little time, both branches count.
 */
static void beginnings_do_not_count(void **state)
{
	struct scene *scene = *state;

	scene->window.ns = 4 * NS_PER_MS;
	scene->window.taken_ns = 3 * NS_PER_MS;
	execute(scene, 0, 10, 2000, 0);
	execute(scene, 1, 10, 2000, 3 * NS_PER_MS);
	tell(scene);
	assert_true(told(scene, SOURCE_EVENT_WEIGHTED, 0, scene->probes[0].targets[1]) > 0);
	assert_int_equal(told(scene, SOURCE_EVENT_WEIGHTED, 1, scene->probes[1].targets[1]), 0);
	scene->results.count = 0;
	scene->window.ns = 24 * NS_PER_MS;
	tell(scene);
	assert_true(told(scene, SOURCE_EVENT_WEIGHTED, 1, scene->probes[1].targets[1]) > 0);
}

/* Only branches executed during the whole window are compared, with the most frequent one. */
static void steady_ones_are_compared(void **state)
{
	struct scene *scene = *state;
	const struct branch_probe *probes = scene->probes;

	scene->window.ns = 24 * NS_PER_MS;
	scene->window.taken_ns = NS_PER_MS;
	execute(scene, 0, 300, 300, 0);
	execute(scene, 1, 0, 200, NS_PER_MS / 10);
	execute(scene, 2, 0, 200, 12 * NS_PER_MS);
	tell(scene);
	assert_int_equal(told(scene, SOURCE_EVENT_SAME_WINDOW, 0, probes[1].address), 600);
	assert_int_equal(told(scene, SOURCE_EVENT_SAME_WINDOW, 1, probes[0].address), 200);
	assert_int_equal(told(scene, SOURCE_EVENT_SAME_WINDOW, 0, probes[2].address), 0);
	assert_int_equal(told(scene, SOURCE_EVENT_SAME_WINDOW, 2, probes[0].address), 0);
}

/*
 * In 300 gaps of 20 ms in total the thread waited for 4 ms; an eighth of the rest was probe
 * overhead.
 */
static void gaps_are_usual(void **state)
{
	struct scene *scene = *state;
	struct branch_window *usual = &scene->windows[0];
	uint64_t address = scene->probes[0].address;

	scene->window.ns = 20 * NS_PER_MS;
	scene->window.taken_ns = 2 * NS_PER_MS;
	execute(scene, 0, 1, 300, 0);
	usual->gaps = 300;
	usual->waited_first_ns = 7 * NS_PER_SECOND;
	usual->waited_ns = usual->waited_first_ns + 4 * NS_PER_MS;
	usual->longest_ns = 2 * NS_PER_MS;
	scene->windows[1] = scene->windows[2] = *usual;
	/* A long interruption, or executions by other threads. */
	scene->windows[1].longest_ns++;
	scene->windows[2].disturbed = 1;
	tell(scene);
	assert_int_equal(told(scene, SOURCE_EVENT_INTERVALS, 0, address), 0);
	/*
	 * One window may be a phase of the program. A branch that once filled a window may also be
	 * one.
	 */
	for (size_t i = 0; i < BRANCHES; i++)
		branch_history_set_checked(&scene->history, PID, scene->probes[i].address);
	tell(scene);
	assert_int_equal(told(scene, SOURCE_EVENT_INTERVALS, 0, address), 300);
	assert_int_equal(told(scene, SOURCE_EVENT_INTERVAL_NS, 0, address), 14 * NS_PER_MS);
	for (size_t i = 1; i < BRANCHES; i++)
		assert_int_equal(
			told(scene, SOURCE_EVENT_INTERVALS, i, scene->probes[i].address) +
				told(scene, SOURCE_EVENT_INTERVAL_NS, i, scene->probes[i].address),
			0);
	scene->results.count = 0;
	branch_history_set_frequent(&scene->history, PID, address);
	tell(scene);
	assert_int_equal(told(scene, SOURCE_EVENT_INTERVALS, 0, address), 0);
}

/* If probes take more of the time, or there are few gaps, no gaps are reported. */
static void gaps_are_the_programs_own(void **state)
{
	struct scene *scene = *state;
	uint64_t address = scene->probes[0].address;

	scene->window.ns = 20 * NS_PER_MS;
	scene->window.taken_ns = 10 * NS_PER_MS;
	execute(scene, 0, 1, 8, 0);
	scene->windows[0].gaps = 8;
	scene->windows[0].longest_ns = NS_PER_MS;
	branch_history_set_checked(&scene->history, PID, address);
	tell(scene);
	assert_int_equal(told(scene, SOURCE_EVENT_INTERVALS, 0, address), 8);
	scene->results.count = 0;
	scene->window.taken_ns++;
	tell(scene);
	assert_int_equal(told(scene, SOURCE_EVENT_INTERVALS, 0, address), 0);
	scene->window.taken_ns--;
	scene->windows[0].gaps = 7;
	tell(scene);
	assert_int_equal(told(scene, SOURCE_EVENT_INTERVALS, 0, address), 0);
}

/*
 * The first branch has a thousand executions in each of five periods of the third (reference)
 * branch. All of the second's are in one period, which is not representative of the others. Two
 * periods are not representative, either.
 */
static void rounds_are_alike(void **state)
{
	struct scene *scene = *state;
	const struct branch_probe *probes = scene->probes;
	struct reference_counts reference = {
		.first = {10, 700, 0},
		.last = {5010, 5700, 5},
		.squares = {5000000, 25000000, 5},
	};

	scene->window.ns = scene->window.taken_ns = 20 * NS_PER_MS;
	scene->window.reference = &reference;
	tell(scene);
	assert_int_equal(told(scene, SOURCE_EVENT_REFERENCE_INTERVAL, 0, probes[2].address), 5000);
	assert_int_equal(told(scene, SOURCE_EVENT_REFERENCE_INTERVAL, 2, probes[0].address), 5);
	assert_int_equal(scene->results.count, 2);
	reference.squares[1] = 5400000;
	tell(scene);
	assert_int_equal(told(scene, SOURCE_EVENT_REFERENCE_INTERVAL, 1, probes[2].address), 5000);
	scene->results.count = 0;
	reference = (struct reference_counts){.last = {2000, 0, 2}, .squares = {2000000, 0, 2}};
	tell(scene);
	assert_int_equal(scene->results.count, 0);
}

/* Levels are powers of two; a short window without executions changes nothing. */
static void frequencies_are_known(void **state)
{
	struct scene *scene = *state;
	uint64_t address = scene->probes[0].address;

	assert_int_equal(branch_history_level(&scene->history, PID, address), 0);
	scene->window.ns = 24 * NS_PER_MS;
	execute(scene, 0, 24000 / 3, 24000 * 2 / 3, 0);
	tell(scene);
	assert_int_equal(branch_history_level(&scene->history, PID, address), 20);
	scene->window.ns = NS_PER_MS;
	execute(scene, 0, 0, 0, 0);
	tell(scene);
	assert_int_equal(branch_history_level(&scene->history, PID, address), 20);
	scene->window.ns = 24 * NS_PER_MS;
	tell(scene);
	assert_int_equal(branch_history_level(&scene->history, PID, address), 1);
	assert_int_equal(branch_history_level(&scene->history, PID + 1, address), 0);
}

static uint32_t probes_of(struct branch_history *history, uint64_t address)
{
	uint32_t weight = 0;

	for (int i = 0; i < 10000; i++)
		weight += branch_history_should_probe(history, PID, address);
	return weight;
}

/* A branch seen often is probed less, even less with one direction only, but more in idle time. */
static void observed_branches_are_probed_less(void **state)
{
	struct scene *scene = *state;
	struct branch_history *history = &scene->history;
	uint32_t both, one;

	assert_int_equal(probes_of(history, 0x1000), 10000);
	for (int i = 0; i < 36; i++) {
		branch_history_seen(history, PID, 0x1000, i % 2 ? 0x1002 : 0x1040);
		branch_history_seen(history, PID, 0x2000, 0x2040);
	}
	both = probes_of(history, 0x1000);
	one = probes_of(history, 0x2000);
	assert_true(both > 60 && both < 150);
	assert_true(one > 2 && one < 30);
	for (int i = 0; i < 9; i++)
		branch_history_idle(history, true);
	assert_int_equal(probes_of(history, 0x1000), 10000);
	assert_true(probes_of(history, 0x2000) > 5 * one);
	for (int i = 0; i < 20; i++)
		branch_history_idle(history, false);
	assert_true(probes_of(history, 0x1000) < 200);
}

static void what_has_no_room_is_counted(void **state)
{
	struct scene *scene = *state;

	scene->window.ns = scene->window.taken_ns = 3 * NS_PER_MS;
	execute(scene, 0, 1, 1, 0);
	while (scene->results.lost == 0)
		tell(scene);
	assert_int_equal(scene->results.count, PROBE_RESULTS_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ways_are_weighed),
		TEST(rare_ways_are_not_lost),
		TEST(beginnings_do_not_count),
		TEST(steady_ones_are_compared),
		TEST(gaps_are_usual),
		TEST(gaps_are_the_programs_own),
		TEST(rounds_are_alike),
		TEST(frequencies_are_known),
		TEST(observed_branches_are_probed_less),
		TEST(what_has_no_room_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
