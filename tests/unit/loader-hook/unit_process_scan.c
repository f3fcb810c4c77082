// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/error.h"
#include "loader-hook/build_id.h"
#include "loader-hook/proc/process_gone.h"
#include "loader-hook/proc/process_scan.h"
#include "loader-hook/proc/process_stat.h"
#include "tests/fixtures/leaderless.h"
#include "tests/fixtures/scan_all.h"

struct log {
	uint32_t pid;
	const char *wanted; /* path to look for */
	size_t forks;
	size_t maps;
	size_t matches;
	size_t processes;
	uint64_t holds; /* an address to search for in mappings */
	bool held;
	char command[64];
};

static void note(void *context, const struct image_event *event)
{
	struct log *log = context;

	assert_true(event->scanned);
	log->processes += event->type == IMAGE_EVENT_FORK;
	if (event->pid != log->pid)
		return;
	assert_true(event->time_ns > 0);
	switch (event->type) {
	case IMAGE_EVENT_FORK:
		assert_int_equal(event->parent, 0);
		log->forks++;
		break;
	case IMAGE_EVENT_RENAME:
		snprintf(log->command, sizeof(log->command), "%s", event->path);
		break;
	case IMAGE_EVENT_MAP:
		assert_int_equal(log->forks, 1);
		log->maps++;
		log->matches += log->wanted != NULL && strcmp(event->path, log->wanted) == 0;
		log->held |= log->holds - event->start < event->bytes;
		break;
	default:
		fail();
	}
}

/* Count the segments of the program, which is the first object. */
static int count_executable(struct dl_phdr_info *info, size_t bytes, void *context)
{
	size_t *count = context;

	(void)bytes;
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		*count += info->dlpi_phdr[i].p_type == PT_LOAD &&
			  (info->dlpi_phdr[i].p_flags & PF_X) != 0;
	return 1;
}

static void test_own_process(void **state)
{
	struct log log = {.pid = (uint32_t)getpid(), .holds = (uintptr_t)test_own_process};
	char exe[4096] = "";
	size_t executable = 0;

	(void)state;
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	dl_iterate_phdr(count_executable, &executable);
	log.wanted = exe;
	assert_int_equal(process_scan(log.pid, note, &log, NULL), 0);
	assert_true(executable > 0);
	assert_int_equal(log.matches, executable);
	assert_true(log.held);
	assert_true(log.maps >= 4);
	assert_string_equal(log.command, "unit_process_sc");
}

static pid_t start(const char *program)
{
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		execl(program, "sleep", "100", (char *)NULL);
		_exit(1);
	}
	close(ready[1]);
	/* Reads end of file when exec closes the other end. */
	assert_int_equal(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void copy_file(const char *to)
{
	char buffer[65536];
	ssize_t n;
	int in = open("/bin/sleep", O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	assert_true(in >= 0 && out >= 0);
	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		assert_int_equal(write(out, buffer, (size_t)n), n);
	close(in);
	close(out);
}

/* Run a program with that name; scan it before and after its file is deleted. */
static void check_name(const char *name)
{
	char directory[] = "/tmp/unit_process_scan.XXXXXX", path[256], deleted[300];
	struct log log = {0};
	pid_t pid;

	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	snprintf(deleted, sizeof(deleted), "%s (deleted)", path);
	copy_file(path);
	pid = start(path);
	log.pid = (uint32_t)pid;
	log.wanted = path;
	assert_int_equal(process_scan(log.pid, note, &log, NULL), 0);
	assert_int_equal(log.matches, 1);
	assert_int_equal(unlink(path), 0);
	log = (struct log){.pid = (uint32_t)pid, .wanted = deleted};
	assert_int_equal(process_scan(log.pid, note, &log, NULL), 0);
	assert_int_equal(log.matches, 1);
	stop(pid);
	assert_int_equal(rmdir(directory), 0);
}

static void test_unusual_names(void **state)
{
	(void)state;
	check_name("plain");
	check_name("with space  and more ");
	check_name("new\nline\n\nend\n");
	check_name("was not (deleted)");
	check_name("7f00-8f00 r-xp 00000000 00:00 0 ls");
	if (access("/proc/self/map_files", X_OK) == 0 && geteuid() == 0)
		check_name("back\\012slash\n");
}

static int child_in_namespace(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/mnt", "tmpfs", 0, NULL) < 0)
		return 1;
	copy_file("/mnt/only here");
	execl("/mnt/only here", "sleep", "100", (char *)NULL);
	return 1;
}

static void test_other_mount_namespace(void **state)
{
	struct log log = {.wanted = "/mnt/only here"};
	int ready[2];
	pid_t pid;
	char byte;

	(void)state;
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(child_in_namespace() && write(ready[1], "x", 1) == 1);
	close(ready[1]);
	/* exec closes the other end; a child that fails before exec writes a byte. */
	if (read(ready[0], &byte, 1) != 0) {
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		print_message("skipped: no privilege to unshare mounts\n");
		skip();
	}
	close(ready[0]);
	log.pid = (uint32_t)pid;
	assert_int_equal(process_scan(log.pid, note, &log, NULL), 0);
	assert_int_equal(log.matches, 1);
	stop(pid);
}

static void wait_for_end(pid_t pid)
{
	siginfo_t info;

	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

/* A process that has ended is reported as gone, even if it was not waited for. */
static void test_zombies(void **state)
{
	struct log log = {0};
	pid_t pid;

	(void)state;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(0);
	wait_for_end(pid);
	log.pid = (uint32_t)pid;
	assert_true(process_is_gone(log.pid));
	assert_int_equal(process_scan(log.pid, note, &log, NULL), -ESRCH);
	assert_true(scan_all(note, &log) >= 1);
	assert_int_equal(log.forks, 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_true(process_is_gone(log.pid));
	assert_false(process_is_gone((uint32_t)getpid()));
}

/*
 * A process with an ended leader lives as long as another thread, which has its memory. Kernel
 * threads are also alive.
 */
static void test_process_without_memory(void **state)
{
	struct log log = {.holds = (uintptr_t)test_own_process};
	pid_t pid;

	(void)state;
	pid = leaderless_start(&log);
	log.pid = (uint32_t)pid;
	assert_false(process_is_gone(log.pid));
	assert_int_equal(process_scan(log.pid, note, &log, NULL), 0);
	assert_true(log.held);
	stop(pid);
	assert_true(process_is_gone(log.pid));
	/* kthreadd, if visible. */
	if (getpgid(2) == 0)
		assert_false(process_is_gone(2));
}

static void test_exited_and_all_processes(void **state)
{
	struct log log = {.pid = (uint32_t)getpid()};
	struct error err;
	pid_t pid;
	int count;

	(void)state;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(process_scan((uint32_t)pid, note, &log, &err), -ESRCH);
	assert_int_equal(log.processes, 0);
	count = scan_all(note, &log);
	assert_true(count >= 1);
	assert_int_equal(log.processes, count);
	assert_int_equal(log.forks, 1);
}

static int temporary_file(const void *data, size_t bytes)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, bytes), (ssize_t)bytes);
	return fd;
}

/* The build-id of this program, then of copies with changed bytes or truncated ones. */
static void test_build_ids_of_hostile_files(void **state)
{
	static uint8_t image[4096], bad[sizeof(image)];
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct build_id expected, found;
	uint64_t seed = 11;
	int i;

	(void)state;
	assert_int_equal(pread(fd, image, sizeof(image), 0), sizeof(image));
	assert_int_equal(build_id_from_file(&expected, fd), 0);
	assert_int_equal(expected.bytes, 20);
	close(fd);
	fd = temporary_file(image, sizeof(image));
	for (i = 0; i < 20000; i++) {
		size_t at = unit_random(&seed) % 1024, n = unit_random(&seed) % 3 + 1;
		size_t bytes = i % 4 == 0 ? unit_random(&seed) % sizeof(image) : sizeof(image);
		int result;

		memcpy(bad, image, sizeof(image));
		while (n-- > 0)
			bad[(at + n) % 1024] = (uint8_t)(unit_random(&seed) % 4 ? 0xff : 0);
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, bad, bytes, 0), (ssize_t)bytes);
		result = build_id_from_file(&found, fd);
		assert_true(result == 0 || result == -ENOENT || result == -ENOEXEC);
		assert_true(result != 0 || (found.bytes > 0 && found.bytes <= 20));
	}
	close(fd);
	fd = temporary_file("#!/bin/sh\n", 10);
	assert_int_equal(build_id_from_file(&found, fd), -ENOEXEC);
	close(fd);
}

static void test_notes(void **state)
{
	static const uint8_t bytes[] = {4, 0, 0,   0,	2,   0, 0,   0,	  3, 0,
					0, 0, 'G', 'N', 'U', 0, 0xa, 0xb, 0, 0};
	static const uint8_t huge[] = {4, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
				       3, 0, 0, 0, 'G',	 'N',  'U',  0};
	struct build_id found;

	(void)state;
	assert_int_equal(build_id_from_notes(&found, bytes, sizeof(bytes), 4), 0);
	assert_int_equal(found.bytes, 2);
	assert_int_equal(found.data[1], 0xb);
	assert_int_equal(build_id_from_notes(&found, bytes, 17, 4), -ENOENT);
	assert_int_equal(build_id_from_notes(&found, huge, sizeof(huge), 4), -ENOENT);
	assert_int_equal(build_id_from_notes(&found, huge, 0, 4), -ENOENT);
}

/* A process with a debugger, one without, and one that has ended. */
static void test_traced(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	for (int debugged = 0; debugged < 2; debugged++) {
		pid = fork();
		if (pid == 0) {
			if (debugged)
				ptrace(PTRACE_TRACEME, 0, NULL, NULL);
			raise(SIGSTOP);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
		assert_int_equal(process_is_traced((uint32_t)pid), debugged);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	assert_true(process_is_traced((uint32_t)pid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_process),
		cmocka_unit_test(test_unusual_names),
		cmocka_unit_test(test_exited_and_all_processes),
		cmocka_unit_test(test_other_mount_namespace),
		cmocka_unit_test(test_zombies),
		cmocka_unit_test(test_process_without_memory),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_build_ids_of_hostile_files),
		cmocka_unit_test(test_traced),
	};

	return cmocka_run_group_tests_name("process_scan", tests, NULL, NULL);
}
