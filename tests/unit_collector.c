// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collector from its source to the database, with a fake source and a fake matcher: samples,
 * edges, event times, epochs.
 */
#include "tests/collector_fixture.h"

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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_source_to_database),
		cmocka_unit_test(edges_not_asked_for),
		cmocka_unit_test(times_are_of_the_epoch),
		cmocka_unit_test(delays_are_told),
	};

	log_init("unit_collector");
	log_set_level(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
