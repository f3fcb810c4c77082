// SPDX-License-Identifier: GPL-2.0-only
/* Counts of dcpix are stored in a database completely or not at all. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "db/profile_read.h"
#include "instrument/profile/epoch_store.h"
#include "lib/error.h"

#define RUNS 20000

static struct profile_edge runs[RUNS];

static int write_runs(void *context, struct profile_writer *writer, int64_t image,
		      struct error *err)
{
	(void)context;
	return profile_writer_counts(writer, image, PROFILE_COUNT_RUN, runs, RUNS, err);
}

static int count_epoch(void *context, const struct profile_epoch *epoch)
{
	assert_false(epoch->open);
	++*(unsigned int *)context;
	return 0;
}

static unsigned int epochs(const char *path)
{
	struct profile_reader *reader;
	unsigned int count = 0;
	struct error err;

	assert_int_equal(profile_reader_open(&reader, path, &err), 0);
	assert_int_equal(profile_reader_epochs(reader, NULL, count_epoch, &count, &err), 0);
	profile_reader_close(reader);
	return count;
}

/* Open and close the database like a later dcpid, which closes open epochs. */
static void open_once(const char *path)
{
	struct profile_writer *writer;
	struct error err;

	assert_int_equal(profile_writer_open(&writer, path, &err), 0);
	profile_writer_close(writer);
}

static void file_limit_set(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int store(const char *path, int64_t *id)
{
	struct epoch_store store = {.database = path, .rewritten = "/proc/self/exe"};
	struct error err;
	int r;

	assert_int_equal(epoch_store_open(&store, "/bin/it", "1234567890abcdef", &err), 0);
	assert_int_equal(epoch_store_file(&store, "/proc/self/exe", &err), 0);
	r = epoch_store_write(&store, write_runs, NULL, &err);
	epoch_store_close(&store);
	*id = store.id;
	return r;
}

static void remove_all(const char *path)
{
	static const char *const suffixes[] = {"", "-lock", "-wal", "-shm"};
	char name[80];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
		unlink(name);
	}
}

/* Wherever the disk becomes full, a failed store leaves no epoch, also for the next writer. */
static void test_reports_full_disk(void **state)
{
	unsigned int failed = 0;
	uint64_t seed = 7;
	int64_t id = 0;
	char path[64];
	int r = -ENOSPC;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/unit_epoch_store.%d.db", getpid());
	for (uint64_t i = 0; i < RUNS; i++)
		runs[i] = (struct profile_edge){8 * i, 8 * i + 4, 1 + unit_random(&seed) % 100000};
	open_once(path);
	for (rlim_t bytes = 4096; r < 0; bytes += 4096) {
		file_limit_set(bytes);
		r = store(path, &id);
		file_limit_set(RLIM_INFINITY);
		assert_true(r == 0 || r == -ENOSPC);
		failed += r < 0;
		open_once(path);
		assert_int_equal(epochs(path), r == 0);
	}
	assert_true(failed > 3);
	assert_true(id > 0);
	remove_all(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reports_full_disk),
	};

	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests_name("epoch_store", tests, NULL, NULL);
}
