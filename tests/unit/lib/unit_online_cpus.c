// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/online_cpus.h"

/*
 * Calls so far, one letter and a number each; @refuse: a CPU that cannot be opened; @stands: one
 * with events that no longer count.
 */
struct told {
	char text[64];
	uint32_t refuse;
	uint32_t stands;
};

static void tell(struct told *told, char what, uint32_t cpu)
{
	size_t used = strlen(told->text);

	snprintf(told->text + used, sizeof(told->text) - used, "%c%u ", what, cpu);
}

static int came(void *context, uint32_t cpu)
{
	struct told *told = context;

	tell(told, '+', cpu);
	return cpu == told->refuse ? -ENODEV : 0;
}

static void went(void *context, uint32_t cpu)
{
	tell(context, '-', cpu);
}

static bool stands(void *context, uint32_t cpu)
{
	const struct told *told = context;

	return cpu == told->stands;
}

/* Set the next contents of the sysfs file. */
static void set_online(const struct online_cpus *cpus, const char *list)
{
	assert_int_equal(ftruncate(cpus->fd, 0), 0);
	assert_int_equal(pwrite(cpus->fd, list, strlen(list), 0), strlen(list));
}

static const char *follow(struct online_cpus *cpus, struct told *told)
{
	static const struct online_cpus_user user = {came, went, stands};
	int rc;

	told->text[0] = '\0';
	rc = online_cpus_follow(cpus, &user, told);
	assert_true(rc < 0 ? told->text[0] == '\0' : rc == (told->text[0] != '\0'));
	return rc < 0 ? "unreadable" : told->text;
}

static void test_reports_hotplug(void **state)
{
	struct online_cpus cpus = {.end = 8};
	struct told told = {.refuse = 3, .stands = 9};
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	cpus.fd = fileno(file);
	set_online(&cpus, "0-2\n");
	assert_string_equal(follow(&cpus, &told), "+0 +1 +2 ");
	assert_string_equal(follow(&cpus, &told), "");
	set_online(&cpus, "0,2-4\n");
	assert_string_equal(follow(&cpus, &told), "-1 +3 +4 ");
	assert_false(online_cpus_has(&cpus, 3));
	/* The refused CPU is retried; it was not opened, so it is not closed. */
	assert_string_equal(follow(&cpus, &told), "+3 ");
	set_online(&cpus, "0\n");
	assert_string_equal(follow(&cpus, &told), "-2 -4 ");
	/* An unreadable list changes nothing. */
	set_online(&cpus, "x\n");
	assert_string_equal(follow(&cpus, &told), "unreadable");
	assert_true(online_cpus_has(&cpus, 0));
	/* A CPU number beyond the table is ignored. */
	set_online(&cpus, "0,9\n");
	assert_string_equal(follow(&cpus, &told), "");
	fclose(file);
}

/*
 * A CPU that was offline between two looks is detected by its events, which are read once a second.
 */
static void test_checks_events_once_a_second(void **state)
{
	struct online_cpus cpus = {.end = 4};
	struct told told = {.refuse = 9, .stands = 9};
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	cpus.fd = fileno(file);
	set_online(&cpus, "0-2\n");
	assert_string_equal(follow(&cpus, &told), "+0 +1 +2 ");
	told.stands = 1;
	assert_string_equal(follow(&cpus, &told), "");
	cpus.asked_ns = 0;
	assert_string_equal(follow(&cpus, &told), "-1 +1 ");
	/* A CPU that cannot be opened yet is retried as usual. */
	cpus.asked_ns = 0;
	told.refuse = 1;
	assert_string_equal(follow(&cpus, &told), "-1 +1 ");
	assert_string_equal(follow(&cpus, &told), "+1 ");
	/* Events of an absent CPU are not read. */
	cpus.asked_ns = 0;
	told.refuse = 9;
	assert_string_equal(follow(&cpus, &told), "+1 ");
	cpus.asked_ns = 0;
	set_online(&cpus, "0,2\n");
	assert_string_equal(follow(&cpus, &told), "-1 ");
	fclose(file);
}

static void test_reads_this_machine(void **state)
{
	struct online_cpus cpus;

	(void)state;
	assert_int_equal(online_cpus_open(&cpus, NULL), 0);
	assert_true(cpus.asked_ns > 0 && cpus.asked_before_ns == cpus.asked_ns);
	assert_int_equal(cpu_list_count(&cpus.list), sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(cpus.end >= sysconf(_SC_NPROCESSORS_CONF));
	online_cpus_close(&cpus);
	assert_int_equal(cpus.fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reports_hotplug),
		cmocka_unit_test(test_checks_events_once_a_second),
		cmocka_unit_test(test_reads_this_machine),
	};

	return cmocka_run_group_tests_name("online_cpus", tests, NULL, NULL);
}
