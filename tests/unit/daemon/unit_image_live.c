// SPDX-License-Identifier: GPL-2.0-only
/*
 * Side-band records, the image table and the image map together, compared with /proc for the same
 * processes.
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/image/image_map.h"
#include "daemon/image/image_table.h"
#include "lib/error.h"
#include "loader-hook/proc/process_scan.h"
#include "loader-hook/perf/side_band.h"
#include "tests/fixtures/scan_all.h"

struct fixture {
	struct side_band *band;
	struct image_table *table;
	struct image_map *map;
	uint64_t complete_ns;
	size_t compared;
};

static void feed(void *context, const struct image_event *event)
{
	image_map_event(((struct fixture *)context)->map, event);
}

static void setup(struct fixture *fixture)
{
	struct error err;
	int result = side_band_open(&fixture->band, 0, &err);

	if (result == -EACCES || result == -EPERM || result == -ENOSYS) {
		print_message("skipped: %s\n", err.message);
		skip();
	}
	assert_int_equal(result, 0);
	assert_int_equal(image_table_create(&fixture->table, NULL), 0);
	assert_int_equal(image_map_create(&fixture->map, fixture->table, true, NULL), 0);
	assert_true(scan_all(feed, fixture) > 0);
}

static void teardown(struct fixture *fixture)
{
	side_band_close(fixture->band);
	image_map_destroy(fixture->map);
	image_table_destroy(fixture->table);
}

static void compare(void *context, const struct image_event *event)
{
	struct fixture *fixture = context;
	struct image_place place;
	uint32_t generation;
	int image;

	if (event->type != IMAGE_EVENT_MAP || event->start >> 63 != 0)
		return;
	generation = image_map_generation(fixture->map, event->pid, fixture->complete_ns);
	assert_int_not_equal(generation, 0);
	image = image_table_from_event(fixture->table, event);
	place = image_map_lookup(fixture->map, event->pid, generation, event->start + 100);
	assert_int_equal(place.image, image > 0 ? image : IMAGE_UNKNOWN);
	assert_int_equal(place.offset, image > 0 ? event->file_offset + 100 : 0);
	fixture->compared++;
}

/* When a byte is echoed, the program is completely loaded. */
static void echo(const int in[2], const int out[2])
{
	char byte = 'x';

	assert_int_equal(write(in[1], &byte, 1), 1);
	assert_int_equal(read(out[0], &byte, 1), 1);
	assert_int_equal(byte, 'x');
}

/* Start cat(1) if @exec, or a fork of this program that waits to be killed. */
static pid_t start(bool exec)
{
	int in[2], out[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		if (exec)
			execl("/bin/cat", "cat", (char *)NULL);
		else if (read(STDIN_FILENO, &byte, 1) == 1 && write(STDOUT_FILENO, &byte, 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	echo(in, out);
	close(in[0]);
	/* The other end stays open, so that cat waits. */
	close(out[0]);
	close(out[1]);
	return pid;
}

/* The process that reads build-ids is another child. */
static void process_end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Processes from before the side band was opened, after a fork, and after an exec. */
static void records_agree_with_proc(void **state)
{
	struct fixture fixture = {0};
	pid_t before = start(true), child, program;

	(void)state;
	setup(&fixture);
	child = start(false);
	program = start(true);
	fixture.complete_ns = side_band_drain(fixture.band, feed, &fixture);
	assert_int_equal(process_scan((uint32_t)before, compare, &fixture, NULL), 0);
	assert_int_equal(process_scan((uint32_t)child, compare, &fixture, NULL), 0);
	assert_int_equal(process_scan((uint32_t)program, compare, &fixture, NULL), 0);
	assert_int_equal(process_scan((uint32_t)getpid(), compare, &fixture, NULL), 0);
	assert_true(fixture.compared >= 14);
	assert_string_equal(image_map_command(fixture.map, (uint32_t)program), "cat");
	assert_string_equal(image_map_command(fixture.map, (uint32_t)child), "unit_image_live");
	process_end(before);
	process_end(child);
	process_end(program);
	side_band_drain(fixture.band, feed, &fixture);
	image_map_expire(fixture.map, UINT64_MAX);
	assert_string_equal(image_map_command(fixture.map, (uint32_t)before), "");
	assert_string_equal(image_map_command(fixture.map, (uint32_t)program), "");
	teardown(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_agree_with_proc),
	};

	return cmocka_run_group_tests_name("image_live", tests, NULL, NULL);
}
