// SPDX-License-Identifier: GPL-2.0-only
/* Side-band records of real processes on the machine that runs the test. */
#include "tests/lib/unit.h"

#include <dlfcn.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"
#include "loader-hook/perf/perf_ring.h"
#include "loader-hook/perf/ring_reader.h"
#include "loader-hook/perf/side_band.h"
#include "loader-hook/perf/side_band_record.h"
#include "loader-hook/perf/thread_count.h"
#include "tests/lib/patience.h"
#include "tests/fixtures/side_band_fixture.h"

/* Events of one process, in order: F fork, E exec, M map, X exit, R rename. */
struct log {
	uint32_t pid;
	uint32_t parent;
	char types[256];
	size_t count;
	size_t build_ids;
	size_t files;
	char paths[4096];
	char command[64];
	uint64_t last_ns;
	uint64_t out_of_order;
};

static void note(void *context, const struct image_event *event)
{
	struct log *log = context;

	log->out_of_order += event->time_ns < log->last_ns;
	log->last_ns = event->time_ns;
	if (event->pid != log->pid || log->count + 1 >= sizeof(log->types))
		return;
	log->types[log->count++] = "FEMXR"[event->type];
	if (event->type == IMAGE_EVENT_FORK)
		log->parent = event->parent;
	if (event->type == IMAGE_EVENT_MAP) {
		size_t used = strlen(log->paths);

		snprintf(log->paths + used, sizeof(log->paths) - used, "%s\n", event->path);
		log->build_ids += event->build_id_bytes > 0;
		log->files += event->inode != 0;
	}
	if (event->type == IMAGE_EVENT_EXEC || event->type == IMAGE_EVENT_RENAME)
		snprintf(log->command, sizeof(log->command), "%s", event->path);
}

static void wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Run a child and return its recorded events. */
static struct log record(void (*child)(void), struct side_band *band)
{
	struct log log = {0};
	uint64_t ended, complete;
	pid_t pid;

	fflush(NULL);
	side_band_drain(band, note, &log);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		child();
		_exit(99);
	}
	log.pid = (uint32_t)pid;
	wait_for(pid);
	ended = clock_monotonic_ns();
	complete = side_band_drain(band, note, &log);
	assert_true(complete >= ended);
	assert_true(log.last_ns <= complete);
	assert_int_equal(log.out_of_order, 0);
	assert_int_equal(side_band_lost(band), 0);
	return log;
}

static void exec_true(void)
{
	execl("/bin/true", "true", (char *)NULL);
}

static void test_fork_exec_exit(void **state)
{
	struct side_band *band = open_or_skip(0);
	struct log log = record(exec_true, band);

	(void)state;
	assert_int_equal(log.parent, getpid());
	/* After the exec: the program, the dynamic loader, the vDSO and libc. */
	assert_true(strncmp(log.types, "FEMMM", 5) == 0);
	assert_int_equal(log.types[log.count - 1], 'X');
	assert_non_null(strstr(log.paths, "/true\n"));
	assert_non_null(strstr(log.paths, "/libc.so.6\n"));
	assert_non_null(strstr(log.paths, "[vdso]\n"));
	assert_int_equal(log.build_ids, 0);
	assert_true(log.files >= 3);
	assert_string_equal(log.command, "true");
	side_band_close(band);
}

static void load_library(void)
{
	void *library = dlopen("libz.so.1", RTLD_NOW);

	if (library == NULL)
		library = dlopen("libm.so.6", RTLD_NOW);
	_exit(library == NULL);
}

static void test_dlopen(void **state)
{
	struct side_band *band = open_or_skip(0);
	struct log log = record(load_library, band);

	(void)state;
	assert_string_equal(log.types, "FMX");
	assert_true(strstr(log.paths, "libz.so.1") || strstr(log.paths, "libm.so.6"));
	side_band_close(band);
}

static void *sleep_a_little(void *argument)
{
	usleep(20000);
	return argument;
}

/* Like pthread_exit() of the main thread, without unloading half of libc. */
static void *outlive(void *argument)
{
	usleep(50000);
	_exit(0);
	return argument;
}

static void leader_exits_first(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 3; i++)
		pthread_create(&thread, NULL, sleep_a_little, NULL);
	pthread_create(&thread, NULL, outlive, NULL);
	pthread_exit(NULL);
}

static void test_process_outlives_leader(void **state)
{
	struct side_band *band = open_or_skip(0);
	struct log log;
	char *exit;

	(void)state;
	log = record(leader_exits_first, band);
	/* One fork and one exit, and the exit is the last event. */
	assert_int_equal(log.types[0], 'F');
	assert_null(strchr(log.types + 1, 'F'));
	exit = strchr(log.types, 'X');
	assert_non_null(exit);
	assert_int_equal(exit[1], '\0');
	side_band_close(band);
}

static void *exec_true_in_thread(void *argument)
{
	exec_true();
	return argument;
}

static void exec_from_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sleep_a_little, NULL);
	pthread_create(&thread, NULL, exec_true_in_thread, NULL);
	for (;;)
		pause();
}

static void test_exec_of_thread(void **state)
{
	struct side_band *band = open_or_skip(0);
	struct log log = record(exec_from_thread, band);
	char *exec;

	(void)state;
	exec = strchr(log.types, 'E');
	assert_non_null(exec);
	assert_null(memchr(log.types, 'X', (size_t)(exec - log.types)));
	assert_null(strchr(exec + 1, 'E'));
	assert_int_equal(log.types[log.count - 1], 'X');
	assert_string_equal(log.command, "true");
	side_band_close(band);
}

static pid_t vfork_child;

static void vfork_exec(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	wait_for(pid);
	_exit(0);
}

static void note_child(void *context, const struct image_event *event)
{
	struct log *log = context;

	if (event->type == IMAGE_EVENT_FORK && event->parent == (uint32_t)vfork_child)
		log->pid = event->pid;
	note(context, event);
}

static void test_vfork(void **state)
{
	struct side_band *band = open_or_skip(0);
	struct log log = {0};

	(void)state;
	fflush(NULL);
	vfork_child = fork();
	if (vfork_child == 0)
		vfork_exec();
	wait_for(vfork_child);
	side_band_drain(band, note_child, &log);
	assert_true(strncmp(log.types, "FEMM", 4) == 0);
	assert_int_equal(log.types[log.count - 1], 'X');
	assert_int_equal(log.parent, vfork_child);
	side_band_close(band);
}

/* Open a side band for a shell that runs @script, recorded from its exec on. */
static struct side_band *open_for(const char *script, pid_t *pid)
{
	struct side_band *band;
	int go[2];
	char byte;

	assert_int_equal(pipe(go), 0);
	fflush(NULL);
	*pid = fork();
	if (*pid == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 0)
			execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(1);
	}
	assert_true(*pid > 0);
	close(go[0]);
	band = open_or_skip((uint32_t)*pid);
	close(go[1]);
	return band;
}

/* Only events of the target from its exec on, and of its children, are recorded. */
static void test_target_and_descendants(void **state)
{
	struct log log = {0};
	pid_t pid;
	struct side_band *band = open_for("/bin/true; /bin/true; exit 0", &pid);

	(void)state;
	wait_for(pid);
	log.pid = (uint32_t)pid;
	side_band_drain(band, note, &log);
	assert_int_equal(log.types[0], 'E');
	assert_string_equal(log.command, "sh");
	assert_int_equal(log.types[log.count - 1], 'X');
	assert_null(strchr(log.types, 'F'));
	side_band_close(band);
}

/*
 * Drain the events of many short-lived processes while they run. Return true if all were read in
 * time: the kernel drops events if this process does not run for so long that a ring is full.
 */
static bool storm_drained(struct counts *counts)
{
	struct side_band *band;
	uint64_t lost;
	pid_t pid;

	*counts = (struct counts){0};
	band = open_for("i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done; exit 0", &pid);
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		side_band_drain(band, count, counts);
		usleep(1000);
	}
	side_band_drain(band, count, counts);
	lost = side_band_lost(band);
	assert_int_equal(side_band_gaps(band) != 0, lost != 0);
	side_band_close(band);
	return lost == 0;
}

static void test_storm_is_complete(void **state)
{
	enum {
		PROCESSES = 300
	};
	uint64_t until = patience_end_ns();
	struct counts counts;

	(void)state;
	while (!storm_drained(&counts))
		assert_true(clock_monotonic_ns() < until);
	assert_int_equal(counts.forks, PROCESSES);
	assert_int_equal(counts.execs, PROCESSES + 1);
	assert_int_equal(counts.exits, PROCESSES + 1);
}

/* If set, rings are read only by side_band_drain(). */
static bool reader_is_late;

int __wrap_ring_reader_add(struct ring_reader *reader, struct perf_ring *ring, struct error *err);
int __real_ring_reader_add(struct ring_reader *reader, struct perf_ring *ring, struct error *err);

int __wrap_ring_reader_add(struct ring_reader *reader, struct perf_ring *ring, struct error *err)
{
	return reader_is_late ? 0 : __real_ring_reader_add(reader, ring, err);
}

/* More processes than the rings can hold, with a single drain at the end, lose no events. */
static void test_late_drain_is_complete(void **state)
{
	enum {
		PROCESSES = 600
	};
	struct side_band *band;
	struct counts counts;
	pid_t pid;

	(void)state;
	band = open_for("i=0; while [ $i -lt 600 ]; do /bin/true; i=$((i+1)); done; exit 0", &pid);
	wait_for(pid);
	drain(band, &counts);
	assert_int_equal(counts.forks, PROCESSES);
	assert_int_equal(counts.execs, PROCESSES + 1);
	assert_int_equal(counts.exits, PROCESSES + 1);
	assert_int_equal(side_band_lost(band), 0);
	assert_int_equal(side_band_gaps(band), 0);
	side_band_close(band);
}

/* The first drain after a ring was full reports a loss, even if the kernel has not. */
static void test_reports_full_rings(void **state)
{
	enum {
		PROCESSES = 600
	};
	struct side_band *band;
	struct counts counts;
	uint64_t began, complete;
	pid_t pid;

	(void)state;
	began = clock_monotonic_ns();
	reader_is_late = true;
	band = open_for("i=0; while [ $i -lt 600 ]; do /bin/true; i=$((i+1)); done; exit 0", &pid);
	wait_for(pid);
	complete = drain(band, &counts);
	assert_true(counts.forks < PROCESSES);
	assert_int_equal(side_band_gaps(band), 1);
	reader_is_late = false;
	assert_true(counts.lost_from > began);
	assert_true(counts.lost_from < complete && counts.lost_until > complete);
	drain(band, &counts);
	assert_int_equal(side_band_gaps(band), 1);
	side_band_close(band);
}

/* Bytes dropped by the next ring that has reached its end. */
static uint64_t dropped_bytes;

uint64_t __wrap_perf_ring_dropped(struct perf_ring *ring);
uint64_t __real_perf_ring_dropped(struct perf_ring *ring);

uint64_t __wrap_perf_ring_dropped(struct perf_ring *ring)
{
	uint64_t bytes = dropped_bytes;

	dropped_bytes = 0;
	return bytes + __real_perf_ring_dropped(ring);
}

static void test_reports_malformed_records(void **state)
{
	struct side_band *band = open_or_skip(0);
	struct counts counts;
	uint64_t complete;

	(void)state;
	drain(band, &counts);
	dropped_bytes = 24;
	complete = drain(band, &counts);
	assert_int_equal(side_band_lost(band), 1);
	assert_int_equal(side_band_gaps(band), 1);
	assert_true(counts.lost_from < complete && counts.lost_until >= complete);
	side_band_close(band);
}

/* The attributes of the last opened event. */
static struct perf_event_attr opened;

int __wrap_perf_ring_open(struct perf_ring **ret, const struct perf_event_attr *attr, int pid,
			  int cpu, size_t pages, struct error *err);
int __real_perf_ring_open(struct perf_ring **ret, const struct perf_event_attr *attr, int pid,
			  int cpu, size_t pages, struct error *err);

int __wrap_perf_ring_open(struct perf_ring **ret, const struct perf_event_attr *attr, int pid,
			  int cpu, size_t pages, struct error *err)
{
	opened = *attr;
	return __real_perf_ring_open(ret, attr, pid, cpu, pages, err);
}

/* Linux damages the records of other listeners if one of them requests any of these. */
static void test_attributes_do_not_disturb_other_users(void **state)
{
	struct side_band *band;
	pid_t pid;
	int target;

	(void)state;
	if (side_band_open_kernel_code(&band, NULL) == 0) {
		assert_true(opened.ksymbol);
		assert_false(opened.sample_id_all);
		assert_false(opened.build_id || opened.bpf_event || opened.text_poke);
		side_band_close(band);
	}
	for (target = 0; target < 2; target++) {
		band = target ? open_for("exit 0", &pid) : open_or_skip(0);
		assert_true(opened.mmap2);
		assert_false(opened.build_id);
		assert_false(opened.ksymbol);
		assert_false(opened.bpf_event);
		assert_false(opened.text_poke);
		side_band_close(band);
		if (target)
			wait_for(pid);
	}
}

static void note_ended(void *context, uint32_t pid)
{
	*(uint32_t *)context = pid;
}

static void test_threads_are_counted(void **state)
{
	struct thread_count threads = {0};
	uint32_t ended = 0;

	(void)state;
	thread_count_fork(&threads, 4000001);
	thread_count_clone(&threads, 4000001);
	thread_count_clone(&threads, 4000001);
	assert_false(thread_count_exit(&threads, 4000001, 4000002));
	assert_false(thread_count_exit(&threads, 4000001, 4000001));
	assert_true(thread_count_exit(&threads, 4000001, 4000003));
	/* After an exec of a process one thread remains, with the leader's id. */
	thread_count_fork(&threads, 4000001);
	thread_count_clone(&threads, 4000001);
	assert_false(thread_count_exit(&threads, 4000001, 4000001));
	thread_count_exec(&threads, 4000001);
	assert_true(thread_count_exit(&threads, 4000001, 4000001));
	/* An unknown process is looked up in /proc, where it does not exist either. */
	assert_false(thread_count_exit(&threads, 4000001, 4000009));
	assert_true(thread_count_exit(&threads, 4000001, 4000001));
	/* A lost exit record. */
	thread_count_fork(&threads, (uint32_t)getpid());
	thread_count_fork(&threads, 2000000000);
	thread_count_verify(&threads, note_ended, &ended);
	assert_int_equal(ended, 2000000000);
	thread_count_deinit(&threads);
}

static void *live(void *pipes)
{
	const int *ends = pipes;
	pid_t tid = gettid();
	char byte;

	/* Wait until the other end of this thread's pipe is closed. */
	if (write(ends[1], &tid, sizeof(tid)) == sizeof(tid))
		(void)!read(ends[0], &byte, 1);
	syscall(SYS_exit, 0);
	return NULL;
}

/* Start a process before the recording; its first thread ends, and two others continue. */
static pid_t process_of_three(pid_t tids[2], int hold[2])
{
	int told[2], ends[2][2], pipes[2][2], i;
	pthread_t thread;
	pid_t pid;

	assert_int_equal(pipe(told) + pipe(pipes[0]) + pipe(pipes[1]), 0);
	pid = fork();
	if (pid == 0) {
		for (i = 0; i < 2; i++) {
			close(pipes[i][1]);
			ends[i][0] = pipes[i][0];
			ends[i][1] = told[1];
			pthread_create(&thread, NULL, live, ends[i]);
			usleep(20000);
		}
		syscall(SYS_exit, 0);
	}
	for (i = 0; i < 2; i++) {
		close(pipes[i][0]);
		hold[i] = pipes[i][1];
		assert_int_equal(read(told[0], &tids[i], sizeof(tids[i])), sizeof(tids[i]));
	}
	close(told[0]);
	close(told[1]);
	return pid;
}

static void wait_for_end(pid_t pid, pid_t tid)
{
	uint64_t until = patience_end_ns();
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/maps", pid, tid);
	while (clock_monotonic_ns() < until) {
		FILE *maps = fopen(path, "re");
		int c = maps != NULL ? getc(maps) : EOF;

		if (maps != NULL)
			fclose(maps);
		if (c == EOF)
			return;
		usleep(10000);
	}
	fail_msg("thread %d lives", tid);
}

/* Some threads have ended before /proc is read, but their records arrive later. */
static void test_threads_of_older_processes(void **state)
{
	struct thread_count threads = {0};
	int hold[2], status;
	pid_t tids[2], pid = process_of_three(tids, hold);

	(void)state;
	wait_for_end(pid, pid);
	close(hold[0]);
	wait_for_end(pid, tids[0]);
	assert_false(thread_count_exit(&threads, (uint32_t)pid, (uint32_t)pid));
	assert_false(thread_count_exit(&threads, (uint32_t)pid, (uint32_t)tids[0]));
	thread_count_clone(&threads, (uint32_t)pid); /* of a thread found in /proc, or not */
	close(hold[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(thread_count_exit(&threads, (uint32_t)pid, (uint32_t)tids[1]));
	assert_false(thread_count_knows(&threads, (uint32_t)pid));
	thread_count_deinit(&threads);
}

/* Linux makes KSYMBOL records longer for each listener; their times stay valid. */
static void test_kernel_code_has_time(void **state)
{
	static const char *const names[] = {"", "code", "1234567", "12345678",
					    "bpf_prog_0123456789"};
	struct {
		struct perf_event_header header;
		uint64_t address;
		uint32_t bytes;
		uint16_t type;
		uint16_t flags;
		uint64_t rest[16];
	} record;
	struct side_band_record parsed;
	size_t i, listener, words;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (listener = 0; listener < 10; listener++) {
			memset(&record, 0, sizeof(record));
			record.header.type = PERF_RECORD_KSYMBOL;
			record.address = 0xffff800000000000;
			record.bytes = 100;
			strcpy((char *)record.rest, names[i]);
			words = strlen(names[i]) / 8 + 1;
			memset(record.rest + words, 'x', listener * 8 + 8);
			record.rest[words] = 123456789;
			record.header.size = (uint16_t)(offsetof(typeof(record), rest) +
							(words + 1 + listener) * 8);
			assert_int_equal(side_band_record_excess(&record.header, 8), listener * 8);
			side_band_record_parse(&parsed, &record.header);
			assert_int_equal(parsed.kind, SIDE_BAND_EVENT);
			assert_int_equal(parsed.event.time_ns, 123456789);
			assert_string_equal(parsed.event.path, names[i]);
		}
	}
}

/* Records of any contents and size are parsed, in memory that ends at their end. */
static void test_records_of_each_kind(void **state)
{
	static const uint32_t types[] = {PERF_RECORD_MMAP2, PERF_RECORD_COMM, PERF_RECORD_FORK,
					 PERF_RECORD_EXIT,  PERF_RECORD_LOST, PERF_RECORD_KSYMBOL};
	uint64_t seed = 1;
	int i, events = 0;

	(void)state;
	for (i = 0; i < 100000; i++) {
		size_t bytes = 8 * (1 + unit_random(&seed) % 20), at;
		struct perf_event_header *header = malloc(bytes);
		struct side_band_record record;

		assert_non_null(header);
		for (at = 0; at < bytes; at++)
			((uint8_t *)header)[at] = (uint8_t)(unit_random(&seed) % 5);
		header->type = types[unit_random(&seed) % 6];
		header->misc = (uint16_t)unit_random(&seed);
		header->size = (uint16_t)bytes;
		side_band_record_parse(&record, header);
		if (record.kind == SIDE_BAND_EVENT) {
			events++;
			if (record.event.path != NULL)
				assert_true(record.event.path + strlen(record.event.path) <
					    (const char *)header + bytes - 8);
			assert_true(record.event.build_id_bytes <= IMAGE_BUILD_ID_BYTES_MAX);
		}
		free(header);
	}
	assert_true(events > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_of_each_kind),
		cmocka_unit_test(test_kernel_code_has_time),
		cmocka_unit_test(test_attributes_do_not_disturb_other_users),
		cmocka_unit_test(test_threads_are_counted),
		cmocka_unit_test(test_threads_of_older_processes),
		cmocka_unit_test(test_fork_exec_exit),
		cmocka_unit_test(test_dlopen),
		cmocka_unit_test(test_process_outlives_leader),
		cmocka_unit_test(test_exec_of_thread),
		cmocka_unit_test(test_vfork),
		cmocka_unit_test(test_target_and_descendants),
		cmocka_unit_test(test_storm_is_complete),
		cmocka_unit_test(test_late_drain_is_complete),
		cmocka_unit_test(test_reports_full_rings),
		cmocka_unit_test(test_reports_malformed_records),
	};

	return cmocka_run_group_tests_name("side_band", tests, NULL, NULL);
}
