// SPDX-License-Identifier: GPL-2.0-only
/* Unwind tables from another process: the same tables, and limits on time and crashes. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/collect/unwind_builder.h"
#include "daemon/unwind/unwind_elf.h"
#include "daemon/unwind/unwind_table.h"
#include "lib/cleanup.h"
#include "loader-hook/build_id.h"
#include "tests/fixtures/slow_unwind.h"
#include "tests/lib/patience.h"

#define USER 1000
#define OTHER 1001

static struct unwind_job job_for(uint32_t image, uint32_t uid, int fd)
{
	struct unwind_job job = {.image = image,
				 .uid = uid,
				 .files = {fd, -1},
				 .wanted = {.count = 1, .bytes_max = SIZE_MAX}};
	struct build_id build_id;

	assert_int_equal(build_id_from_file(&build_id, fd), 0);
	job.identity.build_id = 1;
	job.identity.bytes = (uint32_t)build_id.bytes;
	memcpy(job.identity.data, build_id.data, build_id.bytes);
	return job;
}

static int program_open(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static int slow_open(uint32_t instructions)
{
	int fd = memfd_create("slow", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(slow_unwind_write(fd, instructions, 7), 0);
	return fd;
}

static struct unwind_result result_await(struct unwind_builder *builder)
{
	uint64_t end_ns = patience_end_ns();
	struct unwind_result result;

	assert_true(unwind_builder_wait(builder, end_ns));
	assert_true(unwind_builder_result(builder, &result));
	return result;
}

static struct unwind_table *build(struct unwind_builder *builder, const struct unwind_job *job)
{
	struct unwind_result result;

	assert_int_equal(unwind_builder_add(builder, job), 0);
	result = result_await(builder);
	assert_int_equal(result.image, job->image);
	return result.table;
}

static void table_is_that_of_the_file(void **state)
{
	struct unwind_builder *builder = unwind_builder_create();
	struct unwind_job job = job_for(7, 0, program_open());
	struct unwind_table *here = NULL, *there;

	(void)state;
	assert_non_null(builder);
	assert_int_equal(image_unwind_build(&here, &job.identity, job.files[0], NULL), 0);
	there = build(builder, &job);
	assert_non_null(there);
	assert_true(unwind_table_is_same(there, here));
	assert_int_equal(there->row_count, here->row_count);
	for (uint32_t i = 0; i < here->page_count; i++) {
		assert_int_equal(there->pages[i] != NULL, here->pages[i] != NULL);
		if (here->pages[i] == NULL)
			continue;
		assert_int_equal(unwind_page_size(there->pages[i]),
				 unwind_page_size(here->pages[i]));
		assert_memory_equal(there->pages[i]->marks, here->pages[i]->marks,
				    unwind_page_size(here->pages[i]) - UNWIND_PAGE_SIZE_MIN);
	}
	assert_true(unwind_builder_counts(builder).cpu_ns > 0);
	unwind_table_destroy(here);
	unwind_table_destroy(there);
	unwind_builder_destroy(builder);
}

static void other_files_have_no_table(void **state)
{
	struct unwind_builder *builder = unwind_builder_create();
	struct unwind_job job = job_for(1, 0, program_open());
	int other = slow_open(1);

	(void)state;
	job.identity.data[0] ^= 1;
	assert_null(build(builder, &job));
	/* The second file is used if the first one is another file. */
	job = job_for(2, 0, program_open());
	job.files[1] = job.files[0];
	job.files[0] = other;
	{
		struct unwind_table *table = build(builder, &job);

		assert_non_null(table);
		unwind_table_destroy(table);
	}
	assert_int_equal(unwind_builder_counts(builder).crashed, 0);
	unwind_builder_destroy(builder);
}

/* Return the process of the builder of this test; 0: it has not been started. */
static pid_t process_find(void)
{
	FILE *list = popen("cat /proc/$PPID/task/*/children", "r");
	pid_t found = 0;
	int pid;

	assert_non_null(list);
	while (fscanf(list, "%d", &pid) == 1) {
		_cleanup_file_ FILE *file = NULL;
		char path[64], name[32] = "";

		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		file = fopen(path, "re");
		if (file != NULL && fscanf(file, "%31s", name) == 1 &&
		    strcmp(name, "dcpid-unwind") == 0)
			found = pid;
	}
	pclose(list);
	return found;
}

/* Return the number of seccomp filters of a process. */
static int filters_of(pid_t pid)
{
	_cleanup_file_ FILE *file = NULL;
	char path[64], line[128];
	int mode = -1;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (mode < 0 && fgets(line, sizeof(line), file) != NULL)
		sscanf(line, "Seccomp: %d", &mode);
	return mode;
}

static void crash_costs_one_table(void **state)
{
	struct unwind_builder *builder = unwind_builder_create();
	struct unwind_job job = job_for(1, 0, program_open());
	struct unwind_table *table = build(builder, &job);
	pid_t process = process_find();

	(void)state;
	assert_non_null(table);
	unwind_table_destroy(table);
	if (process == 0) /* a kernel without lists of children */
		skip();
	if (!unwind_builder_counts(builder).open)
		assert_int_equal(filters_of(process), 2);
	assert_int_equal(kill(process, SIGKILL), 0);
	job = job_for(2, 0, program_open());
	table = build(builder, &job);
	unwind_table_destroy(table);
	job = job_for(3, 0, program_open());
	table = build(builder, &job);
	assert_non_null(table);
	unwind_table_destroy(table);
	assert_true(unwind_builder_counts(builder).crashed <= 1);
	unwind_builder_destroy(builder);
}

/* The file of one user takes longer than permitted; those of others have their tables. */
static void slow_file_is_stopped(void **state)
{
	struct unwind_builder *builder = unwind_builder_create();
	struct unwind_job job = job_for(1, USER, slow_open(UNWIND_SECTION_BYTES_MAX / 2));
	bool seen[4] = {false};

	(void)state;
	assert_int_equal(unwind_builder_add(builder, &job), 0);
	job = job_for(2, OTHER, program_open());
	assert_int_equal(unwind_builder_add(builder, &job), 0);
	job = job_for(3, 0, program_open());
	assert_int_equal(unwind_builder_add(builder, &job), 0);
	for (int i = 0; i < 3; i++) {
		struct unwind_result result = result_await(builder);

		assert_in_range(result.image, 1, 3);
		assert_false(seen[result.image]);
		seen[result.image] = true;
		assert_int_equal(result.table != NULL, result.image != 1);
		unwind_table_destroy(result.table);
	}
	assert_int_equal(unwind_builder_counts(builder).stopped, 1);
	unwind_builder_destroy(builder);
}

static void queue_has_room_for_each_user(void **state)
{
	struct unwind_builder *builder = unwind_builder_create();
	struct unwind_job job = job_for(1, USER, slow_open(UNWIND_SECTION_BYTES_MAX / 2));
	uint32_t added = 0;

	(void)state;
	while (unwind_builder_add(builder, &job) == 0) {
		job = job_for(2 + added++, USER, program_open());
		assert_true(added <= UNWIND_BUILDER_USER_JOBS_MAX + 1);
	}
	assert_true(added >= UNWIND_BUILDER_USER_JOBS_MAX);
	job.uid = OTHER;
	assert_int_equal(unwind_builder_add(builder, &job), 0);
	/* Does not wait for the file that is being read. */
	unwind_builder_destroy(builder);
}

static int table_file(const struct unwind_table *table)
{
	int fd = memfd_create("table", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(unwind_table_write(table, fd), 0);
	return fd;
}

/* A process that was taken over may return anything. */
static void damaged_tables_are_refused(void **state)
{
	struct unwind_job job = job_for(1, 0, program_open());
	struct unwind_table *table = NULL, *found;
	uint64_t random = 1;
	unsigned int refused = 0;

	(void)state;
	assert_int_equal(image_unwind_build(&table, &job.identity, job.files[0], NULL), 0);
	for (int i = 0; i < 400; i++) {
		_cleanup_close_ int fd = table_file(table);
		uint64_t at = unit_random(&random) % unwind_table_bytes(table);
		uint8_t byte = (uint8_t)unit_random(&random);
		int r;

		/* The header, and anything else. */
		assert_int_equal(pwrite(fd, &byte, 1, (off_t)(i % 2 ? at % 24 : at)), 1);
		if (i % 5 == 0)
			assert_int_equal(ftruncate(fd, (off_t)at), 0);
		r = unwind_table_read(&found, fd, NULL);
		refused += r != 0;
		if (r != 0)
			continue;
		assert_true(unwind_table_check(found));
		unwind_table_destroy(found);
	}
	assert_true(refused > 100);
	close(job.files[0]);
	unwind_table_destroy(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_that_of_the_file),
		cmocka_unit_test(other_files_have_no_table),
		cmocka_unit_test(crash_costs_one_table),
		cmocka_unit_test(slow_file_is_stopped),
		cmocka_unit_test(queue_has_room_for_each_user),
		cmocka_unit_test(damaged_tables_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
