// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file found for a mapping is the mapped one or none, regardless of the current file at its
 * path.
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/source/file_mapping.h"
#include "tests/lib/patience.h"

#define BYTES 8192
#define NOBODY 65534

static char directory[64], path[96], deleted[128], other[96];

static int setup(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/unit_file_mapping.XXXXXX");
	assert_non_null(mkdtemp(directory));
	assert_int_equal(chmod(directory, 0777), 0);
	snprintf(path, sizeof(path), "%s/prog", directory);
	snprintf(deleted, sizeof(deleted), "%s (deleted)", path);
	snprintf(other, sizeof(other), "%s/other", directory);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	unlink(deleted);
	unlink(other);
	return rmdir(directory);
}

static void file_make(const char *name, char fill)
{
	char bytes[BYTES];
	int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

	assert_true(fd >= 0);
	memset(bytes, fill, sizeof(bytes));
	assert_int_equal(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
}

/* Map the file from its second page. */
static char *code_map(void)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *code = mmap(NULL, BYTES / 2, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, BYTES / 2);

	assert_true(code != MAP_FAILED);
	close(fd);
	return code;
}

static void is_original(const struct file_mapping *mapping, const char *code)
{
	char byte = 0;

	assert_int_equal(mapping->start, (uintptr_t)code);
	assert_int_equal(mapping->end - mapping->start, BYTES / 2);
	assert_int_equal(mapping->from.offset, BYTES / 2);
	assert_int_equal(pread(mapping->fd, &byte, 1, (off_t)mapping->from.offset), 1);
	assert_int_equal(byte, 'c');
}

enum stand_in {
	NOTHING,
	FILE_,
	FIFO,
	LINK,
	STAND_INS
};

static void stand_in_make(enum stand_in which)
{
	switch (which) {
	case FILE_:
		file_make(deleted, 'x');
		break;
	case FIFO:
		assert_int_equal(mkfifo(deleted, 0666), 0);
		break;
	case LINK:
		file_make(other, 'x');
		assert_int_equal(symlink(other, deleted), 0);
		break;
	default:
		break;
	}
}

static void look(enum stand_in which)
{
	struct file_mapping mapping;
	char *code;

	file_make(path, 'c');
	code = code_map();
	assert_int_equal(file_mapping_find(&mapping, (uint32_t)getpid(), (uintptr_t)code + 9), 0);
	is_original(&mapping, code);
	file_mapping_close(&mapping);
	assert_int_equal(mapping.end, 0);
	unlink(path);
	stand_in_make(which);
	assert_int_equal(file_mapping_find(&mapping, (uint32_t)getpid(), (uintptr_t)code), 0);
	if (mapping.fd >= 0)
		is_original(&mapping, code);
	file_mapping_close(&mapping);
	assert_int_equal(munmap(code, BYTES / 2), 0);
	assert_true(file_mapping_find(&mapping, (uint32_t)getpid(), (uintptr_t)code) < 0);
	unlink(deleted);
	unlink(other);
}

/* Test in a child process, which must not hang, with and without privileges. */
static void files_are_what_was_mapped(void **state)
{
	bool privileged = *state == NULL;
	int status;

	if (!privileged && getuid() != 0)
		skip();
	for (enum stand_in which = NOTHING; which < STAND_INS; which++) {
		pid_t child = fork();

		assert_true(child >= 0);
		if (child == 0) {
			alarm(patience_s());
			if (!privileged && (setgid(NOBODY) < 0 || setuid(NOBODY) < 0 ||
					    prctl(PR_SET_DUMPABLE, 1) < 0))
				_exit(1);
			look(which);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
}

static int others_with(int protection, int flags, off_t offset)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *data = mmap(NULL, BYTES / 2, protection, flags, fd, offset);
	struct file_mapping mapping;
	char *code = code_map();
	int others;

	assert_true(data != MAP_FAILED);
	close(fd);
	assert_int_equal(file_mapping_find(&mapping, (uint32_t)getpid(), (uintptr_t)code), 0);
	others = file_mapping_others((uint32_t)getpid(), &mapping);
	file_mapping_close(&mapping);
	munmap(data, BYTES / 2);
	munmap(code, BYTES / 2);
	return others;
}

/* The kernel places breakpoints in private mappings that are not writable. */
static void other_mappings(void **state)
{
	(void)state;
	file_make(path, 'c');
	assert_int_equal(others_with(PROT_READ, MAP_PRIVATE, BYTES / 2), 1);
	assert_int_equal(others_with(PROT_NONE, MAP_PRIVATE, BYTES / 2), 1);
	assert_int_equal(others_with(PROT_READ, MAP_PRIVATE, 0), 0);
	assert_int_equal(others_with(PROT_READ, MAP_SHARED, BYTES / 2), 0);
	assert_int_equal(others_with(PROT_READ | PROT_WRITE, MAP_PRIVATE, BYTES / 2), 0);
}

int main(void)
{
	static int without_privilege = 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_are_what_was_mapped, setup, teardown),
		cmocka_unit_test_setup_teardown(other_mappings, setup, teardown),
		{"files_are_what_was_mapped, without privilege", files_are_what_was_mapped, setup,
		 teardown, &without_privilege},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
