// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files mapped by processes that have ended before the kernel's record is read: the image has the
 * file's identity or none, never that of another file.
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/image/image_table.h"
#include "loader-hook/build_id.h"
#include "loader-hook/image_event.h"
#include "tests/fixtures/side_band_fixture.h"

/* An executable of the test, the position of its build-id, and a folder for copies of it. */
static uint8_t *program;
static size_t program_bytes;
static uint8_t *program_id;
static struct build_id build_id;
static char folder[] = "/tmp/unit_image_identity.XXXXXX";
static char path[64], other[64];

static struct side_band *band;
static struct image_table *table;

/* Write a copy with a build-id that ends in @number to the file with that name. */
static void file_write(const char *name, uint8_t number)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

	assert_true(fd >= 0);
	program_id[build_id.bytes - 1] = number;
	assert_int_equal(write(fd, program, program_bytes), program_bytes);
	close(fd);
}

/* Wait until the clocks of file systems, which tick a hundred times a second, have advanced. */
static void tick(void)
{
	usleep(30000);
}

struct search {
	uint32_t pid;
	struct image_event event;
	char path[64];
	int image;
};

static void map_take(void *context, const struct image_event *event)
{
	struct search *search = context;

	if (event->type != IMAGE_EVENT_MAP || event->pid != search->pid ||
	    strncmp(event->path, path, strlen(path)) != 0)
		return;
	search->event = *event;
	search->event.path = search->path;
	snprintf(search->path, sizeof(search->path), "%s", event->path);
}

/* Start a process that maps @path and waits for a byte. */
static pid_t mapper_start(int *hold)
{
	int ready[2], wait[2], fd;
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(ready) + pipe(wait), 0);
	pid = fork();
	if (pid == 0) {
		close(wait[1]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (mmap(NULL, program_bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) ==
			    MAP_FAILED ||
		    write(ready[1], &byte, 1) != 1)
			_exit(1);
		close(fd);
		(void)!read(wait[0], &byte, 1);
		_exit(0);
	}
	assert_true(pid > 0);
	close(wait[0]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	*hold = wait[1];
	return pid;
}

static void mapper_end(pid_t pid, int hold)
{
	int status;

	close(hold);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Return the event of a process's mapping of @path, without an image lookup. */
static struct search event_of(pid_t pid)
{
	struct search search = {.pid = (uint32_t)pid};

	side_band_drain(band, map_take, &search);
	assert_int_equal(side_band_lost(band), 0);
	assert_int_equal(search.event.type, IMAGE_EVENT_MAP);
	assert_int_equal(search.event.build_id_bytes, 0);
	search.event.path = search.path;
	return search;
}

/* Return the event of a process that has mapped @path and has ended. */
static struct search gone_event(void)
{
	int hold;
	pid_t pid = mapper_start(&hold);

	mapper_end(pid, hold);
	return event_of(pid);
}

static const struct profile_image *image_of(struct search *search)
{
	search->event.path = search->path;
	search->image = image_table_from_event(table, &search->event);
	assert_true(search->image > 0);
	return image_table_get(table, (uint32_t)search->image);
}

static void assert_number(struct search *search, uint8_t number)
{
	const struct profile_image *image = image_of(search);

	assert_int_equal(image->identity_kind, PROFILE_IDENTITY_BUILD_ID);
	assert_int_equal(image->identity_bytes, build_id.bytes);
	assert_int_equal(image->identity[build_id.bytes - 1], number);
}

static void assert_none(struct search *search)
{
	const struct profile_image *image = image_of(search);

	assert_int_equal(image->identity_kind, PROFILE_IDENTITY_NONE);
}

static void seen_alive(uint8_t number)
{
	struct search search;
	int hold;
	pid_t pid = mapper_start(&hold);

	search = event_of(pid);
	assert_number(&search, number);
	mapper_end(pid, hold);
}

static void file_of_a_process_that_is_gone(void **state)
{
	struct search search;

	(void)state;
	file_write(path, 1);
	tick();
	search = gone_event();
	assert_number(&search, 1);
}

static void path_became_another_file(void **state)
{
	struct search search;

	(void)state;
	file_write(path, 1);
	tick();
	search = gone_event();
	file_write(other, 2);
	assert_int_equal(rename(other, path), 0);
	assert_none(&search);
}

/* The generation or the age distinguishes files that used the same inode number in succession. */
static void inode_is_used_again(void **state)
{
	struct search search;
	struct stat status;
	int attempt;

	(void)state;
	file_write(path, 1);
	tick();
	search = gone_event();
	for (attempt = 0; attempt < 20; attempt++) {
		unlink(path);
		file_write(path, 2);
		assert_int_equal(stat(path, &status), 0);
		if (status.st_ino == search.event.inode)
			break;
	}
	assert_none(&search);
}

static void file_was_written_in_place(void **state)
{
	struct stat status;
	struct search search;
	struct timespec times[2];

	(void)state;
	file_write(path, 1);
	tick();
	search = gone_event();
	assert_int_equal(stat(path, &status), 0);
	tick();
	file_write(path, 2);
	times[0] = status.st_atim;
	times[1] = status.st_mtim;
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_none(&search);
}

/* A later process maps new contents with the same size and modification time. */
static void contents_change_between_processes(void **state)
{
	struct stat status;
	struct search search;
	struct timespec times[2];

	(void)state;
	file_write(path, 1);
	tick();
	seen_alive(1);
	assert_int_equal(stat(path, &status), 0);
	file_write(path, 2);
	times[0] = status.st_atim;
	times[1] = status.st_mtim;
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	tick();
	search = gone_event();
	assert_number(&search, 2);
	/* Again, from the cache. */
	search = gone_event();
	assert_number(&search, 2);
}

static void file_that_was_seen_and_deleted(void **state)
{
	struct search search;

	(void)state;
	file_write(path, 1);
	tick();
	seen_alive(1);
	search = gone_event();
	unlink(path);
	/* Without a generation the inode number may belong to another file. */
	if (search.event.version != 0)
		assert_number(&search, 1);
	else
		assert_none(&search);
	/* A minute later the file may have changed. */
	search.event.time_ns += 60000000000ULL;
	assert_none(&search);
}

static int test_begin(void **state)
{
	(void)state;
	band = open_or_skip(0);
	return image_table_create(&table, NULL);
}

static int test_end(void **state)
{
	(void)state;
	unlink(path);
	unlink(other);
	image_table_destroy(table);
	side_band_close(band);
	table = NULL;
	band = NULL;
	return 0;
}

static int group_begin(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat status;

	(void)state;
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(build_id_from_file(&build_id, fd), 0);
	program_bytes = (size_t)status.st_size;
	program = mmap(NULL, program_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_true(program != MAP_FAILED);
	close(fd);
	program_id = memmem(program, program_bytes, build_id.data, build_id.bytes);
	assert_non_null(program_id);
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/program", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	return 0;
}

static int group_end(void **state)
{
	(void)state;
	munmap(program, program_bytes);
	return rmdir(folder);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_begin, test_end)
	const struct CMUnitTest tests[] = {
		TEST(file_of_a_process_that_is_gone),
		TEST(path_became_another_file),
		TEST(inode_is_used_again),
		TEST(file_was_written_in_place),
		TEST(contents_change_between_processes),
		TEST(file_that_was_seen_and_deleted),
	};
#undef TEST

	return cmocka_run_group_tests_name("image_identity", tests, group_begin, group_end);
}
