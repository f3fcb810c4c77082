// SPDX-License-Identifier: GPL-2.0-only
/* CPUs that come, go, or were briefly offline while the side band records. */
#include "tests/lib/unit.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "lib/clock.h"
#include "loader-hook/perf/side_band.h"
#include "tests/fixtures/side_band_fixture.h"

/* Simulated kernel: @online: list of online CPUs; @frozen: times of events stay the same. */
static const char *online;
static bool frozen;

ssize_t __real_pread(int fd, void *buffer, size_t bytes, off_t offset);
ssize_t __wrap_pread(int fd, void *buffer, size_t bytes, off_t offset);
ssize_t __real_read(int fd, void *buffer, size_t bytes);
ssize_t __wrap_read(int fd, void *buffer, size_t bytes);

ssize_t __wrap_pread(int fd, void *buffer, size_t bytes, off_t offset)
{
	if (online == NULL)
		return __real_pread(fd, buffer, bytes, offset);
	memcpy(buffer, online, strlen(online));
	return (ssize_t)strlen(online);
}

ssize_t __wrap_read(int fd, void *buffer, size_t bytes)
{
	uint64_t values[2] = {0, 42};

	if (!frozen)
		return __real_read(fd, buffer, bytes);
	assert_true(bytes >= sizeof(values));
	memcpy(buffer, values, sizeof(values));
	return sizeof(values);
}

/* If a CPU goes online or offline, its events since the last look at the list count as lost. */
static void test_reports_hotplug(void **state)
{
	struct side_band *band;
	struct counts counts;
	uint64_t before, now;

	(void)state;
	online = "0\n";
	band = open_or_skip(0);
	before = drain(band, &counts);
	assert_int_equal(counts.lost_until, 0);
	online = NULL;
	now = drain(band, &counts);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
		assert_int_equal(side_band_gaps(band), 1);
		assert_int_equal(counts.lost_from, before);
		assert_true(counts.lost_until > now);
	}
	before = drain(band, &counts);
	assert_int_equal(counts.lost_until, 0);
	online = "0\n";
	now = drain(band, &counts);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
		assert_int_equal(side_band_gaps(band), 2);
		assert_int_equal(counts.lost_from, before);
		assert_true(counts.lost_until > now);
	}
	online = NULL;
	side_band_close(band);
}

/* A CPU that was offline between two looks is detected by its event, and gets a new one. */
static void test_cpu_that_was_offline_gets_new_event(void **state)
{
	uint64_t begun = clock_monotonic_ns(), opened, now;
	struct side_band *band = open_or_skip(0);
	struct counts counts;

	(void)state;
	opened = clock_monotonic_ns();
	drain(band, &counts);
	frozen = true;
	usleep(1050000);
	drain(band, &counts);
	assert_int_equal(counts.lost_until, 0);
	usleep(1050000);
	now = drain(band, &counts);
	frozen = false;
	assert_int_equal(side_band_gaps(band), 1);
	assert_in_range(counts.lost_from, begun, opened);
	assert_true(counts.lost_until > now);
	assert_int_equal(system("true"), 0);
	drain(band, &counts);
	assert_true(counts.execs > 0 && counts.lost_until == 0);
	assert_int_equal(side_band_gaps(band), 1);
	side_band_close(band);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reports_hotplug),
		cmocka_unit_test(test_cpu_that_was_offline_gets_new_event),
	};

	return cmocka_run_group_tests_name("side_band_cpus", tests, NULL, NULL);
}
