// SPDX-License-Identifier: GPL-2.0-only
/* Image events of this machine, from the best available producer. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/error.h"
#include "loader-hook/image_feed.h"
#include "loader-hook/proc/process_scan.h"

/* Minimal number of processes to scan, and of mappings made at each of them. */
#define SLEEPERS 40
#define MAPPINGS 40
/* Length of a path: the record of a mapping is only slightly larger. */
#define PATH_BYTES 3000
#define NAME_BYTES 200

struct scan {
	char path[PATH_BYTES + NAME_BYTES + 2];
	int fd;
	uint32_t self;
	size_t processes;
	size_t mapped;
	size_t told;
	size_t losses;
};

static struct image_feed *open_or_skip(void)
{
	struct image_feed *feed = NULL;
	struct error err;
	int rc = image_feed_open(&feed, "perf", NULL, 0, &err);

	if (rc == -EACCES || rc == -EPERM || rc == -ENOSYS) {
		print_message("skipped: %s\n", err.message);
		skip();
	}
	if (rc < 0)
		fail_msg("%s", err.message);
	return feed;
}

static void directory_make(struct scan *scan)
{
	char name[NAME_BYTES + 1];

	memset(name, 'd', NAME_BYTES);
	name[NAME_BYTES] = '\0';
	strcpy(scan->path, "/tmp/dcpi-unit-XXXXXX");
	assert_non_null(mkdtemp(scan->path));
	while (strlen(scan->path) < PATH_BYTES) {
		strcat(strcat(scan->path, "/"), name);
		assert_int_equal(mkdir(scan->path, 0700), 0);
	}
	strcat(scan->path, "/f");
	scan->fd = open(scan->path, O_CREAT | O_RDWR | O_CLOEXEC, 0700);
	assert_true(scan->fd >= 0);
	assert_int_equal(ftruncate(scan->fd, 4096), 0);
}

static void directory_remove(struct scan *scan)
{
	char command[64];

	close(scan->fd);
	snprintf(command, sizeof(command), "rm -rf %.21s", scan->path);
	assert_int_equal(system(command), 0);
}

/* Make mappings that each leave a record of about the length of the path. */
static void mappings_make(struct scan *scan)
{
	for (int i = 0; i < MAPPINGS; i++) {
		void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, scan->fd, 0);

		assert_ptr_not_equal(page, MAP_FAILED);
		munmap(page, 4096);
		scan->mapped++;
	}
}

static void note(void *context, const struct image_event *event)
{
	struct scan *scan = context;

	scan->losses += event->type == IMAGE_EVENT_LOST;
	if (event->scanned && event->type == IMAGE_EVENT_FORK) {
		scan->processes++;
		mappings_make(scan);
	} else if (!event->scanned && event->type == IMAGE_EVENT_MAP && event->pid == scan->self &&
		   strlen(event->path) > PATH_BYTES) {
		scan->told++;
	}
}

/*
 * While all processes are scanned, a few at a time, more events occur than a CPU's ring can hold.
 */
static void test_long_scan_loses_nothing(void **state)
{
	struct scan scan = {.self = (uint32_t)getpid()};
	struct image_feed *feed = open_or_skip();
	pid_t sleepers[SLEEPERS];
	uint32_t *pids;
	size_t count;
	cpu_set_t before, one;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	directory_make(&scan);
	for (int i = 0; i < SLEEPERS; i++) {
		sleepers[i] = fork();
		if (sleepers[i] == 0) {
			pause();
			_exit(0);
		}
		assert_true(sleepers[i] > 0);
	}
	assert_int_equal(process_scan_list(&pids, &count, NULL), 0);
	assert_true(count >= SLEEPERS);
	for (size_t i = 0; i < count; i++) {
		process_scan(pids[i], note, &scan, NULL);
		image_feed_drain(feed, note, &scan);
	}
	free(pids);
	for (int i = 0; i < SLEEPERS; i++) {
		kill(sleepers[i], SIGKILL);
		waitpid(sleepers[i], NULL, 0);
	}
	sched_setaffinity(0, sizeof(before), &before);
	directory_remove(&scan);
	assert_true(scan.mapped * PATH_BYTES > 4U << 20);
	assert_int_equal(scan.told, scan.mapped);
	assert_int_equal(scan.losses, 0);
	assert_int_equal(image_feed_lost(feed), 0);
	image_feed_close(feed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_scan_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
