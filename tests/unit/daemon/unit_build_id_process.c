// SPDX-License-Identifier: GPL-2.0-only
/* Build-ids from another process: the same as those read here, also after the process has ended. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/image/build_id_process.h"
#include "lib/cleanup.h"

static void self_is_read(struct build_id_process *process)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct build_id build_id, expected;
	uint64_t cpu_ns;

	assert_int_equal(build_id_from_file(&expected, fd), 0);
	assert_int_equal(build_id_process_read(process, &build_id, fd, &cpu_ns), 0);
	assert_int_equal(build_id.bytes, expected.bytes);
	assert_memory_equal(build_id.data, expected.data, expected.bytes);
}

static void other_files_have_none(struct build_id_process *process)
{
	_cleanup_close_ int fd = memfd_create("none", MFD_CLOEXEC);
	struct build_id build_id;
	uint64_t cpu_ns;

	assert_int_equal(build_id_process_read(process, &build_id, fd, &cpu_ns), -ENOEXEC);
	assert_int_equal(write(fd, "\177ELF", 4), 4);
	assert_int_equal(build_id_process_read(process, &build_id, fd, &cpu_ns), -ENOEXEC);
}

static void files_have_their_build_ids(void **state)
{
	struct build_id_process process = BUILD_ID_PROCESS_NONE;

	(void)state;
	self_is_read(&process);
	other_files_have_none(&process);
	self_is_read(&process);
	build_id_process_end(&process);
	build_id_process_end(&process);
}

static void crash_costs_one_build_id(void **state)
{
	struct build_id_process process = BUILD_ID_PROCESS_NONE;
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct build_id build_id;
	uint64_t cpu_ns;
	int r;

	(void)state;
	for (int i = 0; i < 8; i++) {
		self_is_read(&process);
		kill(process.process.pid, SIGSEGV);
		r = build_id_process_read(&process, &build_id, fd, &cpu_ns);
		assert_true(r == 0 || r == -EIO);
	}
	self_is_read(&process);
	build_id_process_end(&process);
}

/* Return a number of the status of a process; -1: there is none. */
static long status_number(pid_t pid, const char *name, int base)
{
	char path[64], line[256];
	long value = -1;
	_cleanup_file_ FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, name, strlen(name)) == 0)
			value = strtol(line + strlen(name), NULL, base);
	}
	return value;
}

static void process_has_no_privileges(void **state)
{
	struct build_id_process process = BUILD_ID_PROCESS_NONE;
	pid_t pid;

	(void)state;
	self_is_read(&process);
	pid = process.process.pid;
	assert_int_equal(status_number(pid, "NoNewPrivs:\t", 10), 1);
	if (!process.process.open)
		assert_int_equal(status_number(pid, "Seccomp:\t", 10), 2);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_int_equal(status_number(pid, "CapEff:\t", 16), 0);
	if (geteuid() == 0)
		assert_int_equal(status_number(pid, "Uid:\t", 10), 65534);
#endif
	build_id_process_end(&process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_have_their_build_ids),
		cmocka_unit_test(crash_costs_one_build_id),
		cmocka_unit_test(process_has_no_privileges),
	};

	return cmocka_run_group_tests_name("build_id_process", tests, NULL, NULL);
}
