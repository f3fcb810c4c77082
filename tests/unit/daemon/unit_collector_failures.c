// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collector under failures: a full disk, a locked database, an epoch that cannot begin, a
 * source that does not restart, memory limits.
 */
#include "tests/fixtures/collector_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include "daemon/base/log.h"
#include "daemon/collect/overhead.h"

/* The next measured cost of a sample, and the number of epochs that the database will refuse. */
static uint64_t measured_ns;
static unsigned int epochs_refused;

int __wrap_overhead_again(struct overhead_watch *watch, struct event_list *events, uint64_t cpu_hz,
			  uint64_t percent, uint64_t *cost_ns);
int __wrap_profile_writer_epoch_next(struct profile_writer *writer, int64_t end_ns,
				     const struct profile_epoch *epoch,
				     const struct profile_event *events, size_t event_count,
				     struct error *error);
int __real_profile_writer_epoch_next(struct profile_writer *writer, int64_t end_ns,
				     const struct profile_epoch *epoch,
				     const struct profile_event *events, size_t event_count,
				     struct error *error);

int __wrap_overhead_again(struct overhead_watch *watch, struct event_list *events, uint64_t cpu_hz,
			  uint64_t percent, uint64_t *cost_ns)
{
	(void)watch;
	(void)cpu_hz;
	(void)percent;
	if (measured_ns == *cost_ns)
		return 0;
	for (size_t i = 0; i < events->count; i++) {
		events->event[i].period_min *= measured_ns / *cost_ns;
		events->event[i].period_max *= measured_ns / *cost_ns;
	}
	*cost_ns = measured_ns;
	return 1;
}

int __wrap_profile_writer_epoch_next(struct profile_writer *writer, int64_t end_ns,
				     const struct profile_epoch *epoch,
				     const struct profile_event *events, size_t event_count,
				     struct error *error)
{
	if (epochs_refused > 0) {
		epochs_refused--;
		return error_set(error, EBUSY, "locked");
	}
	return __real_profile_writer_epoch_next(writer, end_ns, epoch, events, event_count, error);
}

static void file_limit_set(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Data that cannot be merged waits, and is merged exactly once when the disk has room. */
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
	assert_true(counter_set_get(&status.counters, "stat", "edges_pending") > 0);
	file_limit_set(RLIM_INFINITY);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
	look(path, 1, &found);
	assert_memory_equal(seen_edges, model, sizeof(model));
	assert_settled(&found, 0);
}

/* Return a statistic of the current epoch. */
static uint64_t stat_of(struct collector *collector, const char *name)
{
	struct collector_status status;

	collector_status(collector, &status);
	return counter_set_get(&status.counters, "stat", name);
}

static sqlite3 *lock_database(const char *path)
{
	sqlite3 *other = NULL;

	assert_int_equal(sqlite3_open(path, &other), SQLITE_OK);
	assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	return other;
}

/* Another program keeps the database locked: sampling continues, and each merge waits briefly. */
static void locked_database(void **state)
{
	const char *path = path_of("locked.db");
	struct collector_config config = config_make(path, 5);
	struct collector *collector;
	uint64_t seed = 44, ticks = 0;
	struct found found;
	sqlite3 *other;

	(void)state;
	config.merge_ns = 500000000; /* shorter than the wait in a step */
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

/*
 * Create a collector that measures the cost of a sample at each tick except the first; initially 1
 * us.
 */
static struct collector *measuring_collector(const char *path)
{
	struct collector_config config = config_make(path, 5);
	struct collector *collector;

	config.overhead_ns = 1;
	config.sample_cost_ns = measured_ns = 1000;
	collector = collector_of(&config);
	assert_ok(collector_start(collector, &err));
	assert_ok(collector_tick(collector, &err));
	return collector;
}

/* Check the epoch, the period and the cost used for sampling, and that sampling is active. */
static void assert_sampling(struct collector *collector, int64_t epoch, uint64_t period_min,
			    uint64_t cost_ns)
{
	struct collector_status status;

	collector_status(collector, &status);
	assert_int_equal(status.epoch, epoch);
	assert_int_equal(status.events->event[0].period_min, period_min);
	assert_int_equal(status.sample_cost_ns, cost_ns);
	if (epoch > 1)
		assert_int_equal(fake.events[0].period_min, period_min);
	assert_true(fake.running);
}

static void assert_both_epochs(const char *path)
{
	struct found found;

	look(path, 1, &found);
	assert_memory_equal(seen_edges, model, sizeof(model));
	assert_settled(&found, 0);
	look(path, 2, &found);
	assert_settled(&found, 1);
}

/*
 * A changed cost changes the periods, at once or later. An epoch never mixes periods of two costs.
 */
static void cost_waits_for_the_database(void **state)
{
	const char *path = path_of("cost.db");
	struct collector *collector = measuring_collector(path);
	uint64_t seed = 45;
	sqlite3 *other;

	(void)state;
	hand_over(&seed, 0);
	measured_ns = 5000;
	other = lock_database(path);
	assert_ok(collector_tick(collector, &err));
	assert_sampling(collector, 1, 60000, 1000);
	sqlite3_close(other);
	assert_ok(collector_flush(collector, &err));
	assert_ok(collector_tick(collector, &err));
	assert_sampling(collector, 2, 300000, 5000);
	hand_over(&seed, 1);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
	assert_both_epochs(path);
}

/* The change is also retried if only the new epoch cannot begin. */
static void refused_epoch_is_tried_again(void **state)
{
	const char *path = path_of("refused.db");
	struct collector *collector = measuring_collector(path);
	uint64_t seed = 46;

	(void)state;
	hand_over(&seed, 0);
	measured_ns = 5000;
	epochs_refused = 1;
	assert_ok(collector_tick(collector, &err));
	assert_int_equal(epochs_refused, 0);
	assert_sampling(collector, 1, 60000, 1000);
	hand_over(&seed, 0);
	assert_ok(collector_tick(collector, &err));
	assert_sampling(collector, 2, 300000, 5000);
	hand_over(&seed, 1);
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
	assert_both_epochs(path);
}

static int count_open(void *context, const struct profile_epoch *epoch)
{
	*(int *)context += epoch->open;
	return 0;
}

/* If a source does not restart, the collector ends and stores its data. */
static void source_does_not_start_again(void **state)
{
	const char *path = path_of("start.db");
	struct collector *collector = measuring_collector(path);
	struct profile_reader *reader;
	uint64_t seed = 47;
	int open = 0;

	(void)state;
	hand_over(&seed, 0);
	measured_ns = 5000;
	fake.refuses = true;
	assert_int_equal(collector_tick(collector, &err), -EIO);
	hand_over(&seed, 1);
	assert_ok(collector_stop(collector, &err));
	assert_ok(collector_stop(collector, &err));
	collector_close(collector);
	assert_both_epochs(path);
	assert_ok(profile_reader_open(&reader, path, &err));
	assert_ok(profile_reader_epochs(reader, NULL, count_open, &open, &err));
	profile_reader_close(reader);
	assert_int_equal(open, 0);
}

/* If a source fails at the end, its data so far is stored in an epoch that ended. */
static void source_is_gone(void **state)
{
	const char *path = path_of("gone.db");
	struct collector *collector = collector_make(path, 5);
	struct found found;
	uint64_t seed = 48;

	(void)state;
	assert_ok(collector_start(collector, &err));
	hand_over(&seed, 0);
	fake.drain_result = -EIO;
	assert_int_equal(collector_stop(collector, &err), -EIO);
	assert_string_equal(err.message, "gone");
	collector_close(collector);
	look(path, 1, &found);
	assert_memory_equal(seen_edges, model, sizeof(model));
	assert_settled(&found, 0);
}

static int sum_edges(void *context, const struct profile_edges *edges)
{
	if (!profile_edge_is_edge(edges->kind))
		return 0;
	*(uint64_t *)context += edges->total;
	return 0;
}

/* Edges beyond their part of the memory are refused and counted; samples have a separate part. */
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
	assert_ok(profile_reader_counters(found.reader, &(struct profile_epoch){.id = 1},
					  take_counter, &found, &err));
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
		cmocka_unit_test(cost_waits_for_the_database),
		cmocka_unit_test(refused_epoch_is_tried_again),
		cmocka_unit_test(source_does_not_start_again),
		cmocka_unit_test(source_is_gone),
		cmocka_unit_test(memory_limit),
	};

	signal(SIGXFSZ, SIG_IGN);
	log_init("unit_collector_failures");
	log_set_level(LOG_LEVEL_ERROR);
	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
