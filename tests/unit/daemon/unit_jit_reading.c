// SPDX-License-Identifier: GPL-2.0-only
/* Limits of users on the CPU time for files of JIT code. */
#include "tests/lib/unit.h"

#include <time.h>

#include "daemon/jit/jit_reading.h"
#include "lib/clock.h"

#define ROOT_PID 1
#define BUSY_PID 1000
#define WORK_MS 5

/* The process id is the user's id, except for root's. */
static uint32_t uid_of(void *context, uint32_t pid)
{
	(void)context;
	return pid == ROOT_PID ? 0 : pid;
}

static void work_for(uint64_t ms)
{
	uint64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ms * NS_PER_MS;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void users_without_points_wait(void **state)
{
	struct jit_reading reading = {.uid = uid_of};
	struct jit_work work;

	(void)state;
	assert_true(jit_reading_begin(&reading, &work, BUSY_PID));
	jit_reading_charge(&work, 2 * JIT_POINTS_MAX);
	assert_false(jit_reading_begin(&reading, &work, BUSY_PID));
	assert_int_equal(reading.postponed, 1);
	assert_true(jit_reading_begin(&reading, &work, BUSY_PID + 1));
	assert_true(jit_reading_begin(&reading, &work, ROOT_PID));
	jit_reading_deinit(&reading);
}

static void root_has_no_limit(void **state)
{
	struct jit_reading reading = {.uid = uid_of};
	struct jit_work work;

	(void)state;
	assert_true(jit_reading_begin(&reading, &work, ROOT_PID));
	jit_reading_charge(&work, 100 * JIT_POINTS_MAX);
	assert_true(jit_reading_begin(&reading, &work, ROOT_PID));
	assert_int_equal(quota_totals(&reading.quota).spent, 0);
	jit_reading_deinit(&reading);
}

/* As when a recording is imported. */
static void nobody_is_limited_without_users(void **state)
{
	struct jit_reading reading = {.uid = NULL};
	struct jit_work work;

	(void)state;
	assert_true(jit_reading_begin(&reading, &work, BUSY_PID));
	jit_reading_charge(&work, 100 * JIT_POINTS_MAX);
	assert_true(jit_reading_begin(&reading, &work, BUSY_PID));
	jit_reading_deinit(&reading);
}

static void cpu_time_is_charged(void **state)
{
	const struct timespec pause = {.tv_nsec = 20 * NS_PER_MS};
	struct jit_reading reading = {.uid = uid_of};
	struct jit_work work;
	uint64_t spent;

	(void)state;
	assert_true(jit_reading_begin(&reading, &work, BUSY_PID));
	work_for(WORK_MS);
	nanosleep(&pause, NULL);
	jit_reading_end(&work);
	spent = quota_totals(&reading.quota).spent;
	assert_true(spent >= WORK_MS * JIT_POINTS_PER_MS);
	assert_true(spent < (WORK_MS + 20) * JIT_POINTS_PER_MS);
	jit_reading_deinit(&reading);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(users_without_points_wait),
		cmocka_unit_test(root_has_no_limit),
		cmocka_unit_test(nobody_is_limited_without_users),
		cmocka_unit_test(cpu_time_is_charged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
