// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include "daemon/source/probe_places.h"
#include "lib/clock.h"

#define PID 4321
#define ADDRESS 0x555555555140

static struct probe_places places;

static int setup(void **state)
{
	(void)state;
	probe_places_init(&places);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	probe_places_deinit(&places);
	return 0;
}

static void a_trap_is_at_the_breakpoint_or_after_it(void **state)
{
	(void)state;
	probe_places_add(&places, PID, ADDRESS, 100);
	assert_true(probe_places_has(&places, PID, ADDRESS, 150));
	assert_true(probe_places_has(&places, PID, ADDRESS + 1, 150));
	assert_false(probe_places_has(&places, PID, ADDRESS - 1, 150));
	assert_false(probe_places_has(&places, PID, ADDRESS + 2, 150));
	assert_false(probe_places_has(&places, PID + 1, ADDRESS, 150));
	assert_false(probe_places_has(&places, 0, 0, 150));
}

static void times_are_those_of_the_breakpoint(void **state)
{
	(void)state;
	probe_places_add(&places, PID, ADDRESS, 100);
	assert_false(probe_places_has(&places, PID, ADDRESS, 99));
	assert_true(probe_places_has(&places, PID, ADDRESS, UINT64_MAX));
	probe_places_remove(&places, PID, ADDRESS, 200);
	assert_true(probe_places_has(&places, PID, ADDRESS, 200));
	assert_false(probe_places_has(&places, PID, ADDRESS, 201));
	/* Soon afterwards: samples of the first probe may still arrive. */
	probe_places_add(&places, PID, ADDRESS, 300);
	assert_true(probe_places_has(&places, PID, ADDRESS, 150));
	probe_places_remove(&places, PID, ADDRESS, 400);
	/* Long afterwards. */
	probe_places_add(&places, PID, ADDRESS, 60 * NS_PER_SECOND);
	assert_false(probe_places_has(&places, PID, ADDRESS, 350));
	assert_true(probe_places_has(&places, PID, ADDRESS, 61 * NS_PER_SECOND));
}

static void a_step_is_in_the_area(void **state)
{
	(void)state;
	probe_places_add_area(&places, PID, 0x7000, 0x8000, 100);
	assert_true(probe_places_has(&places, PID, 0x7000, 150));
	assert_true(probe_places_has(&places, PID, 0x7fff, 150));
	assert_false(probe_places_has(&places, PID, 0x8000, 150));
	assert_false(probe_places_has(&places, PID + 64, 0x7000, 150));
	probe_places_remove_area(&places, PID + 64, 120);
	assert_true(probe_places_has(&places, PID, 0x7000, 150));
	probe_places_remove_area(&places, PID, 200);
	assert_false(probe_places_has(&places, PID, 0x7000, 201));
}

static void a_step_ends_at_the_target(void **state)
{
	(void)state;
	probe_places_add(&places, PID, ADDRESS, 100);
	probe_places_add_target(&places, PID, ADDRESS, 0x1000);
	assert_true(probe_places_has(&places, PID, 0x1000, 150));
	assert_false(probe_places_has(&places, PID, 0x1001, 150));
	assert_false(probe_places_has(&places, PID, 0x1000, 99));
	probe_places_remove(&places, PID, ADDRESS, 200);
	assert_false(probe_places_has(&places, PID, 0x1000, 201));
	/* A breakpoint at the target of another one. */
	probe_places_add(&places, PID, 0x1000, 300);
	assert_true(probe_places_has(&places, PID, 0x1001, 350));
	probe_places_add_target(&places, PID, ADDRESS, 0x1000);
	assert_true(probe_places_has(&places, PID, 0x1001, 350));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_trap_is_at_the_breakpoint_or_after_it, setup,
						teardown),
		cmocka_unit_test_setup_teardown(times_are_those_of_the_breakpoint, setup, teardown),
		cmocka_unit_test_setup_teardown(a_step_is_in_the_area, setup, teardown),
		cmocka_unit_test_setup_teardown(a_step_ends_at_the_target, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
