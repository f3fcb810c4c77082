// SPDX-License-Identifier: GPL-2.0-only
/*
 * The profile database under failures: missing permissions, full disks, killed writers, readers
 * next to a writer.
 */
#include "tests/fixtures/profile_db_merges.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define NOBODY 65534

/* Run a function in a child without privileges; its result must fit a byte. */
static int as_nobody(int (*function)(const char *path), const char *path)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
			_exit(255);
		_exit(-function(path) & 0xff);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

/* Return 0 if all 30 merges can be read; -errno, or -EDOM for other contents. */
static int read_thirty(const char *path)
{
	struct profile_reader *reader = NULL;
	struct totals totals = {0};
	int r;

	r = profile_reader_open(&reader, path, &err);
	if (r == 0)
		r = profile_reader_snapshot(reader, &err);
	if (r == 0)
		r = profile_reader_epochs(reader, NULL, last_epoch, &totals, &err);
	if (r == 0)
		r = profile_reader_profiles(reader, NULL, sum_profile, &totals, &err);
	profile_reader_close(reader);
	if (r == 0 && (totals.samples != 90 || totals.interrupts != 90))
		r = -EDOM;
	return r;
}

static void test_permissions(void **state)
{
	const char *path = path_of("rights.db"), *torn = path_of("to%rn?.db");
	struct profile_writer *writer;
	uint8_t *data;
	size_t bytes;
	uint64_t i;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(fixture_directory, 0755), 0);
	/* The writer keeps the mode, and SQLite applies it to the log and the shared memory. */
	write_file(path, "", 0);
	assert_int_equal(chmod(path, 0644), 0);
	writer = begin(path);
	for (i = 0; i < 30; i++)
		assert_ok(merge(writer, i));
	/* Next to the writer, with all data in the log. */
	assert_int_equal(as_nobody(read_thirty, path), 0);
	assert_int_equal(as_nobody(try_write, path), -EACCES);
	/* A copy of file and log: shared memory does not exist and cannot be created. */
	data = read_file(path, &bytes);
	write_file(torn, data, bytes);
	free(data);
	data = read_file(path_of("rights.db-wal"), &bytes);
	assert_true(bytes > 0);
	write_file(path_of("to%rn?.db-wal"), data, bytes);
	free(data);
	assert_int_equal(as_nobody(read_thirty, torn), -EACCES);
	assert_int_equal(read_thirty(torn), 0);
	profile_writer_close(writer);
	/* The log has been removed; the directory is not writable. */
	assert_int_equal(access(path_of("rights.db-wal"), F_OK), -1);
	assert_int_equal(as_nobody(read_thirty, path), 0);
	unlink(path_of("to%rn?.db-wal"));
	unlink(path_of("to%rn?.db-shm"));
	data = read_file(path, &bytes);
	write_file(torn, data, bytes);
	free(data);
	assert_int_equal(as_nobody(read_thirty, torn), 0);
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(as_nobody(try_read, path), -EACCES);
}

/* Merge until the disk is full. With free space again, the same merge succeeds. */
static uint64_t fill_disk(struct profile_writer *writer)
{
	uint64_t i;
	int r = 0;

	for (i = 0; i < 100000 && r == 0; i++)
		r = merge(writer, i);
	if (r != -ENOSPC)
		fail_msg("%d %s", r, err.message);
	assert_true(i > 1);
	return i - 1;
}

static void test_file_size_limit(void **state)
{
	const char *path = path_of("limit.db");
	struct profile_writer *writer = begin(path);
	struct rlimit old, limit;
	uint64_t next;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 300000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	next = fill_disk(writer);
	assert_int_equal(merge(writer, next), -ENOSPC);
	assert_int_equal(check_file(path).interrupts, 3 * next);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_ok(merge(writer, next));
	assert_int_equal(check_file(path).interrupts, 3 * (next + 1));
	profile_writer_close(writer);
	assert_int_equal(check_file(path).interrupts, 3 * (next + 1));
}

static void test_full_disk(void **state)
{
	const char *mount_point = path_of("small");
	struct profile_writer *writer;
	char path[300];
	uint64_t next;

	(void)state;
	assert_int_equal(mkdir(mount_point, 0700), 0);
	if (mount("tmpfs", mount_point, "tmpfs", 0, "size=512k") < 0)
		skip();
	snprintf(path, sizeof(path), "%s/full.db", mount_point);
	writer = begin(path);
	next = fill_disk(writer);
	assert_int_equal(merge(writer, next), -ENOSPC);
	assert_int_equal(mount("tmpfs", mount_point, "tmpfs", MS_REMOUNT, "size=4m"), 0);
	assert_ok(merge(writer, next));
	assert_int_equal(check_file(path).interrupts, 3 * (next + 1));
	profile_writer_close(writer);
	assert_int_equal(check_file(path).interrupts, 3 * (next + 1));
	assert_int_equal(umount(mount_point), 0);
}

/* Shared with a writing child: the number of merges known to be committed. */
static volatile uint64_t *committed;

static pid_t start_writer(const char *path)
{
	struct profile_epoch epoch = model_epoch(0);
	struct profile_writer *writer = NULL;
	pid_t pid = fork();
	uint64_t i;
	int r;

	if (pid != 0)
		return pid;
	r = profile_writer_open(&writer, path, &err);
	if (r == 0)
		r = profile_writer_epoch_begin(writer, &epoch, model_events, 2, &err);
	for (i = 0; r == 0; i++) {
		r = merge(writer, i);
		if (r == 0)
			*committed = i + 1;
	}
	fprintf(stderr, "%s\n", err.message);
	_exit(1);
}

static void map_committed(void)
{
	void *memory = mmap(NULL, sizeof(*committed), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	committed = memory;
}

static void test_killed_writers(void **state)
{
	const char *path = path_of("killed.db");
	uint64_t seed = 22, known, found;
	struct totals totals;
	int round, status;
	pid_t pid;

	(void)state;
	map_committed();
	for (round = 0; round < 40; round++) {
		*committed = 0;
		pid = start_writer(path);
		while (*committed == 0 && waitpid(pid, &status, WNOHANG) == 0)
			usleep(200);
		usleep((useconds_t)(unit_random(&seed) % 20000));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		assert_true(WIFSIGNALED(status));
		known = *committed;
		totals = check_file(path);
		found = totals.interrupts / 3;
		assert_int_equal(totals.interrupts, 3 * found);
		assert_true(found == known || found == known + 1);
	}
}

/* Every snapshot is a committed state, and snapshots only move forward. */
static void test_reader_with_writer(void **state)
{
	const char *path = path_of("beside.db");
	struct profile_reader *reader = NULL;
	uint64_t last = 0, before, changes = 0;
	struct totals totals;
	int round, status;
	pid_t pid;

	(void)state;
	map_committed();
	pid = start_writer(path);
	while (*committed == 0 && waitpid(pid, &status, WNOHANG) == 0)
		usleep(200);
	assert_ok(profile_reader_open(&reader, path, &err));
	for (round = 0; round < 300; round++) {
		before = *committed;
		totals = read_totals(reader);
		assert_int_equal(totals.samples, totals.interrupts);
		assert_true(totals.interrupts >= 3 * before && totals.interrupts >= last);
		changes += totals.interrupts > last;
		last = totals.interrupts;
	}
	assert_true(changes > 1);
	profile_reader_close(reader);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status));
}

static int unmount_and_teardown(void **state)
{
	/* Still mounted only if full_disk() failed. */
	umount2(path_of("small"), MNT_DETACH);
	return fixture_teardown(state);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_permissions),	   cmocka_unit_test(test_file_size_limit),
		cmocka_unit_test(test_full_disk),	   cmocka_unit_test(test_killed_writers),
		cmocka_unit_test(test_reader_with_writer),
	};

	return cmocka_run_group_tests(tests, fixture_setup, unmount_and_teardown);
}
