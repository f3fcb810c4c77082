// SPDX-License-Identifier: GPL-2.0-only
/* The table of threads: rows, its limit, and sums that remain exact. */
#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "daemon/collect/thread_recording.h"
#include "daemon/collect/thread_store.h"

#define ROWS_MAX 64

static void add(struct thread_store *store, uint32_t tid, const char *name, uint64_t stacks,
		uint64_t ns)
{
	struct thread_key key = thread_key_make(tid / 10 * 10, tid, "server", name);

	thread_store_add(store, &key, stacks, ns);
}

static const struct thread_total *row_find(const struct thread_store *store, uint32_t tid,
					   const char *name)
{
	size_t count;
	const struct thread_total *rows = thread_store_rows(store, &count);

	for (size_t i = 0; i < count; i++) {
		if (rows[i].key.tid == tid && strcmp(rows[i].key.thread, name) == 0)
			return &rows[i];
	}
	return NULL;
}

static void threads_have_rows(void **state)
{
	struct thread_store *store = thread_store_create(ROWS_MAX);
	size_t count;

	(void)state;
	assert_non_null(store);
	add(store, 10, "main", 1, 0);
	add(store, 11, "worker", 1, 0);
	add(store, 11, "worker", 0, 500);
	add(store, 12, "worker", 2, 7);
	add(store, 12, "a name of more than 15 bytes", 1, 0);
	thread_store_rows(store, &count);
	assert_int_equal(count, 4);
	assert_int_equal(row_find(store, 11, "worker")->stacks, 1);
	assert_int_equal(row_find(store, 11, "worker")->off_cpu_ns, 500);
	assert_int_equal(row_find(store, 11, "worker")->key.pid, 10);
	assert_int_equal(row_find(store, 12, "a name of more ")->stacks, 1);
	thread_store_destroy(store);
}

/* Add threads, and check the limit and the sums. @names: number of different names */
static struct thread_store *crowd_make(uint32_t threads, uint32_t names)
{
	struct thread_store *store = thread_store_create(ROWS_MAX);
	const struct thread_total *rows;
	uint64_t stacks = 0, ns = 0;
	size_t count;

	assert_non_null(store);
	for (uint32_t i = 0; i < threads; i++) {
		char name[16];

		snprintf(name, sizeof(name), "name %u", i % names);
		add(store, 1000 + i, name, 1, i);
		add(store, 1, "often", 1, 5);
		thread_store_rows(store, &count);
		assert_true(count <= ROWS_MAX);
	}
	rows = thread_store_rows(store, &count);
	for (size_t i = 0; i < count; i++) {
		stacks += rows[i].stacks;
		ns += rows[i].off_cpu_ns;
	}
	assert_int_equal(stacks, 2 * threads);
	assert_int_equal(ns, (uint64_t)threads * (threads - 1) / 2 + 5 * (uint64_t)threads);
	assert_int_equal(row_find(store, 1, "often")->stacks, threads);
	assert_int_equal(thread_store_refused(store), 0);
	return store;
}

static void many_threads_become_rows_of_their_names(void **state)
{
	struct thread_store *store = crowd_make(5000, 3);

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		char name[16];

		snprintf(name, sizeof(name), "name %u", i);
		assert_true(row_find(store, 0, name)->stacks > 1600);
		assert_int_equal(row_find(store, 0, name)->key.pid, 0);
	}
	assert_null(row_find(store, 0, THREAD_STORE_OTHER));
	thread_store_destroy(store);
}

static void many_names_become_one_row(void **state)
{
	struct thread_store *store = crowd_make(5000, 5000);

	(void)state;
	assert_true(row_find(store, 0, THREAD_STORE_OTHER)->stacks > 4800);
	thread_store_destroy(store);
}

static void a_recording_has_all_rows(void **state)
{
	struct thread_store *store = thread_store_create(ROWS_MAX);
	struct thread_recording recording = {.count = 0};
	const uint64_t *row;

	(void)state;
	assert_non_null(store);
	add(store, 17, "worker", 3, 9);
	assert_int_equal(thread_recording_make(&recording, store, 32), 0);
	assert_int_equal(recording.count, 1);
	assert_int_equal(recording.recording.mode, PROFILE_RECORDING_THREADS);
	assert_int_equal(recording.recording.tables[0].values[PROFILE_STACKS_EVERY], 32);
	row = profile_recording_row(&recording.recording.tables[PROFILE_THREADS_THREADS], 0);
	assert_int_equal(row[PROFILE_THREAD_PID], 10);
	assert_int_equal(row[PROFILE_THREAD_TID], 17);
	assert_int_equal(row[PROFILE_THREAD_STACKS], 3);
	assert_int_equal(row[PROFILE_THREAD_OFF_CPU_NS], 9);
	assert_string_equal(recording.recording.texts[row[PROFILE_THREAD_COMMAND]], "server");
	assert_string_equal(recording.recording.texts[row[PROFILE_THREAD_NAME]], "worker");
	thread_store_clear(store);
	assert_int_equal(thread_recording_make(&recording, store, 32), 0);
	assert_int_equal(recording.count, 0);
	thread_recording_deinit(&recording);
	thread_store_destroy(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_have_rows),
		cmocka_unit_test(many_threads_become_rows_of_their_names),
		cmocka_unit_test(many_names_become_one_row),
		cmocka_unit_test(a_recording_has_all_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
