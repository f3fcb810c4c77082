// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collector when something does not work: a disk that is full, a database that is
 * locked, no memory.
 */
#include "tests/collector_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include "daemon/base/log.h"

static void file_limit_set(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* What cannot be merged waits, and is merged when it can be: once. */
static void full_disk(void **state)
{
	const char *path = path_of("full.db");
	struct collector *collector = collector_make(path, 5);
	struct collector_status status;
	struct found found;
	uint64_t seed = 42;

	(void)state;
	assert_ok(collector_start(collector, &err));
	hand_over(&seed, 0);
	assert_ok(collector_flush(collector, &err));
	file_limit_set(1024);
	hand_over(&seed, 0);
	assert_int_equal(collector_flush(collector, &err), -ENOSPC);
	hand_over(&seed, 0);
	assert_int_equal(collector_flush(collector, &err), -ENOSPC);
	collector_status(collector, &status);
	assert_true(tally_get(&status.counters, "stat", "edges_pending") > 0);
	file_limit_set(RLIM_INFINITY);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
	look(path, 1, &found);
	assert_memory_equal(seen_edges, model, sizeof(model));
	assert_settled(&found, 0);
}

/* Of an epoch so far. */
static uint64_t stat_of(struct collector *collector, const char *name)
{
	struct collector_status status;

	collector_status(collector, &status);
	return tally_get(&status.counters, "stat", name);
}

static sqlite3 *lock_database(const char *path)
{
	sqlite3 *other = NULL;

	assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	return other;
}

/* Another program writes, for long: sampling goes on, and merges wait a moment each. */
static void locked_database(void **state)
{
	const char *path = path_of("locked.db");
	struct collector_config config = config_make(path, 5);
	struct collector *collector;
	uint64_t seed = 44, ticks = 0;
	struct found found;
	sqlite3 *other;

	(void)state;
	config.merge_ns = 500000000; /* a step lasts less than it waits */
	collector = collector_of(&config);
	assert_ok(collector_start(collector, &err));
	other = lock_database(path);
	hand_over(&seed, 0);
	for (; stat_of(collector, "merge_failures") < 8; ticks++)
		assert_ok(collector_tick(collector, &err));
	assert_true(ticks >= 16);
	assert_true(stat_of(collector, "drain_gap_ms") < 3000);
	assert_int_equal(collector_epoch(collector, "second", &err), -EBUSY);
	sqlite3_close(other);
	hand_over(&seed, 0);
	assert_ok(collector_flush(collector, &err));
	look(path, 1, &found);
	assert_memory_equal(seen_edges, model, sizeof(model));
	assert_settled(&found, 0);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
}

static int sum_edges(void *context, const struct profile_edges *edges)
{
	if (edges->kind >= PROFILE_EDGE_NO_EDGE)
		return 0;
	*(uint64_t *)context += edges->total;
	return 0;
}

/* Edges beyond their part of the memory are refused, and counted; samples have theirs. */
static void memory_limit(void **state)
{
	const char *path = path_of("memory.db");
	struct collector *collector = collector_make(path, 5);
	struct found found = {.counter_count = 0};
	uint64_t seed = 43, stored = 0;
	int i;

	(void)state;
	assert_ok(collector_start(collector, &err));
	for (i = 0; i < 40000; i++) {
		fake.edges[fake.edge_count++] =
			(struct source_edge){address(1, unit_random(&seed) % (1 << 20)),
					     address(2, unit_random(&seed) % (1 << 20)),
					     dcpi_tag(1, 1, DCPI_EVENT_BRANCH), 1};
		if (fake.edge_count == 4000)
			assert_ok(collector_drain(collector, &err));
	}
	hand_over(&seed, 0);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
	assert_ok(profile_reader_open(&found.reader, path, &err));
	assert_ok(profile_reader_counters(found.reader, 1, take_counter, &found, &err));
	assert_ok(profile_reader_profiles(found.reader, NULL, take_profile, &found, &err));
	assert_ok(profile_reader_edges(found.reader, NULL, sum_edges, &stored, &err));
	profile_reader_close(found.reader);
	assert_int_equal(found.samples[0], model_samples[0]);
	assert_int_equal(counter(&found, "memory"), 0);
	assert_true(counter(&found, "edges_memory") > 1000 && stored > 1000);
	assert_int_equal(counter(&found, "edges_handed"), 40000 + model_handed[0]);
	assert_int_equal(counter(&found, "edges_handed"), stored +
								  counter(&found, "edges_unknown") +
								  counter(&found, "edges_memory"));
	counter(&found, NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_disk),
		cmocka_unit_test(locked_database),
		cmocka_unit_test(memory_limit),
	};

	signal(SIGXFSZ, SIG_IGN);
	log_init("unit_collector_failures");
	log_set_level(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
