// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include "tools/report/event_role.h"

static enum event_time time_of(const char *name, const char *unit)
{
	const struct profile_event event = {.name = name, .unit = unit};

	return event_role_time(&event);
}

static void test_time_events(void **state)
{
	(void)state;
	assert_int_equal(time_of("cycles", "cycles"), EVENT_TIME_CYCLES);
	assert_int_equal(time_of("cycles:u", "cycles"), EVENT_TIME_CYCLES);
	assert_int_equal(time_of("cpu-cycles", "cycles"), EVENT_TIME_CYCLES);
	assert_int_equal(time_of("cpu-clock", "ns"), EVENT_TIME_CLOCK);
	assert_int_equal(time_of("task-clock:u", "ns"), EVENT_TIME_CLOCK);
	assert_int_equal(time_of("imiss", "events"), EVENT_TIME_NOT);
	assert_int_equal(time_of("ref-cycles", "events"), EVENT_TIME_NOT);
	assert_int_equal(time_of("cycles-frontend", "events"), EVENT_TIME_NOT);
	assert_int_equal(time_of("cyclesx", "events"), EVENT_TIME_NOT);
	assert_int_equal(time_of("", ""), EVENT_TIME_NOT);
}

static void test_evidence_events(void **state)
{
	(void)state;
	assert_int_equal(event_role_find("imiss"), PROFILE_ROLE_IMISS);
	assert_int_equal(event_role_find("dmiss:u"), PROFILE_ROLE_DMISS);
	assert_int_equal(event_role_find("branch-misses"), PROFILE_ROLE_BRANCH_MISS);
	assert_int_equal(event_role_find("branch-misses:pp"), PROFILE_ROLE_BRANCH_MISS);
	assert_int_equal(event_role_find("dtb"), PROFILE_ROLE_DTB_MISS);
	assert_int_equal(event_role_find("dtbmiss"), PROFILE_ROLE_DTB_MISS);
	assert_int_equal(event_role_find("itb"), PROFILE_ROLE_ITB_MISS);
	assert_int_equal(event_role_find("ICACHE:MISSES"), PROFILE_ROLE_IMISS);
	assert_int_equal(event_role_find("icache:misses:u"), PROFILE_ROLE_IMISS);
	assert_int_equal(event_role_find("dTLB-load-misses"), PROFILE_ROLE_DTB_MISS);
	assert_int_equal(event_role_find("dTLB-store-misses"), PROFILE_ROLES);
	assert_int_equal(event_role_find("cycles"), PROFILE_ROLES);
	assert_int_equal(event_role_find("dmisses"), PROFILE_ROLES);
	assert_int_equal(event_role_find(""), PROFILE_ROLES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_events),
		cmocka_unit_test(test_evidence_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
