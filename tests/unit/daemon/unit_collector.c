// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collector from its source to the database, with a fake source and a fake matcher: samples,
 * edges, event times, epochs.
 */
#include "tests/fixtures/collector_fixture.h"

#include <errno.h>
#include <time.h>

#include "daemon/base/log.h"

static void from_source_to_database(void **state)
{
	const char *path = path_of("whole.db");
	struct collector *collector = collector_make(path, 5);
	struct found found;
	uint64_t seed = 41;
	int round;

	(void)state;
	assert_int_equal(fake.config.branch_every, 5);
	assert_int_equal(fake.config.double_every, 5);
	assert_int_equal(fake.config.double_period, 77);
	assert_ok(collector_start(collector, &err));
	for (round = 0; round < 10; round++) {
		hand_over(&seed, 0);
		assert_ok(collector_drain(collector, &err));
		if (round % 3 == 0)
			assert_ok(collector_flush(collector, &err));
	}
	assert_ok(collector_epoch(collector, "second", &err));
	hand_over(&seed, 1);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
	look(path, 1, &found);
	assert_memory_equal(seen_edges, model, sizeof(model));
	assert_settled(&found, 0);
	look(path, 2, &found);
	assert_settled(&found, 1);
}

static void edges_not_asked_for(void **state)
{
	const char *path = path_of("none.db");
	struct collector *collector = collector_make(path, 0);
	struct found found;

	(void)state;
	assert_int_equal(fake.config.double_period, 0);
	assert_ok(collector_start(collector, &err));
	assert_ok(collector_flush(collector, &err));
	look(path, 1, &found);
	assert_int_equal(counter(&found, "edges_handed"), UINT64_MAX);
	counter(&found, NULL);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
}

static void assert_time(struct found *found, int event, uint64_t enabled, uint64_t running)
{
	assert_int_equal(found->time[event].enabled_ns, enabled);
	assert_int_equal(found->time[event].running_ns, running);
	counter(found, NULL);
}

static void times_are_of_the_epoch(void **state)
{
	const char *path = path_of("times.db");
	struct collector *collector = collector_make(path, 5);
	struct source_time told;
	struct found found;

	(void)state;
	fake.time_result = -ENODATA;
	assert_ok(collector_start(collector, &err));
	assert_ok(collector_flush(collector, &err));
	look(path, 1, &found);
	assert_time(&found, 0, 0, 0);
	fake.time_result = 0;
	fake.time[0] = (struct source_time){1000, 250};
	fake.time[1] = (struct source_time){1000, 1001}; /* read shortly after */
	assert_ok(collector_flush(collector, &err));
	look(path, 1, &found);
	assert_time(&found, 0, 1000, 250);
	assert_time(&found, 1, 1000, 1000);
	/*
	 * An epoch that begins while the source reports no times counts from the last known ones.
	 */
	fake.time_result = -ENODATA;
	assert_ok(collector_epoch(collector, "second", &err));
	fake.time_result = 0;
	fake.time[0] = (struct source_time){1600, 300};
	assert_ok(collector_flush(collector, &err));
	look(path, 1, &found);
	assert_time(&found, 0, 1000, 250);
	look(path, 2, &found);
	assert_time(&found, 0, 600, 50);
	assert_ok(collector_event_time(collector, 0, &told));
	assert_int_equal(told.enabled_ns, 600);
	assert_int_equal(told.running_ns, 50);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
}

static void sleep_ms(long ms)
{
	const struct timespec time = {.tv_nsec = ms * 1000000};

	assert_int_equal(nanosleep(&time, NULL), 0);
}

/* The longest wait of events and of the disk is recorded per epoch. */
static void delays_are_told(void **state)
{
	const char *path = path_of("delays.db");
	struct collector *collector = collector_make(path, 5);
	uint64_t first, second, took;
	struct found found;

	(void)state;
	assert_ok(collector_start(collector, &err));
	sleep_ms(60);
	assert_ok(collector_flush(collector, &err));
	look(path, 1, &found);
	first = counter(&found, "drain_gap_ms");
	assert_int_not_equal(first, UINT64_MAX);
	assert_true(first >= 60);
	counter(&found, NULL);
	sleep_ms(20);
	assert_ok(collector_flush(collector, &err));
	look(path, 1, &found);
	assert_true(counter(&found, "drain_gap_ms") >= first);
	counter(&found, NULL);
	sleep_ms(200);
	assert_ok(collector_epoch(collector, "second", &err));
	look(path, 1, &found);
	assert_true(counter(&found, "drain_gap_ms") >= 200);
	counter(&found, NULL);
	/* The new epoch has not waited for anything yet. */
	look(path, 2, &found);
	second = counter(&found, "drain_gap_ms");
	took = counter(&found, "commit_ms");
	assert_true(second == 0 || second == UINT64_MAX);
	assert_true(took == 0 || took == UINT64_MAX);
	counter(&found, NULL);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
}

#define ROUNDS 60

/* The n-th slice has the samples of the n-th round, whenever they are merged. */
static void slices_have_their_samples(void **state)
{
	static const char sum[] = "SELECT (SELECT ifnull(sum(samples), 0) FROM slice_profile "
				  "WHERE slice = slice.id) FROM slice ORDER BY start_ns "
				  "LIMIT 1 OFFSET %d";
	static const char wrong[] =
		"SELECT count(*) FROM slice WHERE interrupts <> (SELECT ifnull(sum(samples), 0) "
		"FROM slice_profile WHERE slice = slice.id) + (SELECT ifnull(sum(count), 0) FROM "
		"slice_counter WHERE slice = slice.id AND counter_group = 'loss')";
	const char *path = path_of("slices.db");
	struct collector_config config = config_make(path, 5);
	uint64_t seed = 48, taken[ROUNDS];
	struct collector *collector;
	struct found found;

	(void)state;
	config.slice_ns = 5000000;
	config.memory_limit = 64 << 20;
	collector = collector_of(&config);
	assert_ok(collector_start(collector, &err));
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t before = model_samples[0];

		sleep_ms(6);
		hand_over(&seed, 0);
		assert_ok(collector_tick(collector, &err));
		taken[i] = model_samples[0] - before;
		if (unit_random(&seed) % 8 != 0)
			continue;
		assert_ok(collector_flush(collector, &err));
		assert_int_equal(number(path, wrong), 0);
	}
	/* Without merges, slices become longer. */
	for (int i = 0; i < ROUNDS; i++) {
		sleep_ms(6);
		hand_over(&seed, 0);
		assert_ok(collector_tick(collector, &err));
	}
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
	look(path, 1, &found);
	assert_settled(&found, 0);
	assert_int_equal(number(path, wrong), 0);
	assert_int_equal(number(path, "SELECT sum(samples) FROM slice_profile"), model_samples[0]);
	assert_int_equal(number(path,
				"SELECT count(*) FROM (SELECT image, event, pid, samples FROM "
				"profile EXCEPT SELECT image, event, pid, sum(samples) FROM "
				"slice_profile GROUP BY 1, 2, 3)"),
			 0);
	for (int i = 0; i < ROUNDS; i++) {
		char sql[256];

		snprintf(sql, sizeof(sql), sum, i);
		assert_int_equal(number(path, sql), taken[i]);
	}
	assert_true(number(path, "SELECT count(*) FROM slice") < ROUNDS + 30);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_source_to_database),   cmocka_unit_test(edges_not_asked_for),
		cmocka_unit_test(times_are_of_the_epoch),    cmocka_unit_test(delays_are_told),
		cmocka_unit_test(slices_have_their_samples),
	};

	log_init("unit_collector");
	log_set_level(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
