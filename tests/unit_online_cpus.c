// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/online_cpus.h"

/* What was told, one letter and a number each; @refuse: a CPU that cannot come. */
struct told {
	char text[64];
	uint32_t refuse;
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

/* As sysfs would say next. */
static void set_online(const struct online_cpus *cpus, const char *list)
{
	assert_int_equal(ftruncate(cpus->fd, 0), 0);
	assert_int_equal(pwrite(cpus->fd, list, strlen(list), 0), strlen(list));
}

static const char *follow(struct online_cpus *cpus, struct told *told)
{
	told->text[0] = '\0';
	online_cpus_follow(cpus, came, went, told);
	return told->text;
}

static void tells_who_comes_and_goes(void **state)
{
	struct online_cpus cpus = {.end = 8};
	struct told told = {.refuse = 3};
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
	/* It is tried again, and did not come, so that it cannot go. */
	assert_string_equal(follow(&cpus, &told), "+3 ");
	set_online(&cpus, "0\n");
	assert_string_equal(follow(&cpus, &told), "-2 -4 ");
	/* What cannot be read changes nothing. */
	set_online(&cpus, "x\n");
	assert_string_equal(follow(&cpus, &told), "");
	assert_true(online_cpus_has(&cpus, 0));
	/* Beyond what was there room for. */
	set_online(&cpus, "0,9\n");
	assert_string_equal(follow(&cpus, &told), "");
	fclose(file);
}

static void finds_this_machine(void **state)
{
	struct online_cpus cpus;

	(void)state;
	assert_int_equal(online_cpus_open(&cpus, NULL), 0);
	assert_int_equal(cpu_list_count(&cpus.list), sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(cpus.end >= sysconf(_SC_NPROCESSORS_CONF));
	online_cpus_close(&cpus);
	assert_int_equal(cpus.fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_who_comes_and_goes),
		cmocka_unit_test(finds_this_machine),
	};

	return cmocka_run_group_tests_name("online_cpus", tests, NULL, NULL);
}
