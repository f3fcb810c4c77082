// SPDX-License-Identifier: GPL-2.0-only
/* Folders for data that can be rebuilt: their location, and the expiry of files. */
#include "tests/lib/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/cache_folder.h"

static char directory[] = "/tmp/dcpi-cache-XXXXXX";

static int setup(void **state)
{
	(void)state;
	return mkdtemp(directory) != NULL ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

static void add(const char *path, off_t bytes, time_t days_ago)
{
	struct timespec times[2] = {{.tv_sec = time(NULL) - days_ago * 86400}};
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	times[1] = times[0];
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static unsigned int count(void)
{
	char path[96];
	unsigned int found = 0;

	for (int i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), "%s/a/b/%d", directory, i);
		found |= (access(path, F_OK) == 0) << i;
	}
	return found;
}

/* The most recently used files are kept. File i was last used 5 * i + 1 days ago. */
static void test_keeps_most_recently_used(void **state)
{
	char path[96];

	(void)state;
	snprintf(path, sizeof(path), "%s/a/b/file", directory);
	cache_folder_make(path);
	assert_int_equal(path[strlen(path) - 5], '/');
	for (int i = 0; i < 8; i++) {
		snprintf(path, sizeof(path), "%s/a/b/%d", directory, i);
		add(path, 1000, 5 * i + 1);
	}
	cache_folder_expire(path, 0);
	assert_int_equal(count(), 0x3f);
	cache_folder_expire(path, 6000);
	assert_int_equal(count(), 0x3f);
	cache_folder_expire(path, 3999);
	assert_int_equal(count(), 0x7);
	/* A file that is used again counts as recent. */
	snprintf(path, sizeof(path), "%s/a/b/2", directory);
	cache_folder_touch(open(path, O_RDONLY | O_CLOEXEC));
	cache_folder_expire(path, 1000);
	assert_int_equal(count(), 0x4);
	snprintf(path, sizeof(path), "%s/nothing/there", directory);
	cache_folder_expire(path, 1);
}

static void assert_path(const char *want)
{
	char *path = cache_folder_path("things", "DCPI_TEST_CACHE");

	if (want == NULL)
		assert_null(path);
	else
		assert_string_equal(path, want);
	free(path);
}

static void test_path(void **state)
{
	char want[96];

	(void)state;
	setenv("XDG_CACHE_HOME", directory, 1);
	setenv("HOME", "/nonexistent", 1);
	snprintf(want, sizeof(want), "%s/dcpi/things", directory);
	assert_path(want);
	setenv("DCPI_TEST_CACHE", "off", 1);
	assert_path(NULL);
	unsetenv("DCPI_TEST_CACHE");
	setenv("XDG_CACHE_HOME", "relative", 1);
	assert_path("/nonexistent/.cache/dcpi/things");
	setenv("HOME", "relative", 1);
	assert_path(NULL);
	setenv("HOME", directory, 1);
	snprintf(want, sizeof(want), "%s/.cache/dcpi/things", directory);
	assert_path(want);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keeps_most_recently_used),
		cmocka_unit_test(test_path),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
