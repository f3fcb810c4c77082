// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/cpu_list.h"

static void test_parses_lists(void **state)
{
	uint64_t seed = 7;
	int round;

	(void)state;
	for (round = 0; round < 5000; round++) {
		struct cpu_list want = {.bits = {0}}, got;
		uint32_t cpu = (uint32_t)(unit_random(&seed) % 70), last, count = 0;
		char text[4096];
		size_t at = 0;

		text[0] = '\0';
		while (cpu < CPU_LIST_MAX && at < sizeof(text) - 32) {
			last = cpu + (uint32_t)(unit_random(&seed) % 3 * (unit_random(&seed) % 50));
			if (last >= CPU_LIST_MAX)
				last = CPU_LIST_MAX - 1;
			at += (size_t)snprintf(text + at, sizeof(text) - at,
					       last > cpu ? "%s%u-%u" : "%s%u", at > 0 ? "," : "",
					       cpu, last);
			for (; cpu <= last; cpu++, count++)
				want.bits[cpu / 64] |= 1ULL << cpu % 64;
			cpu += 1 + (uint32_t)(unit_random(&seed) % 500);
		}
		strcat(text, "\n");
		assert_int_equal(cpu_list_parse(&got, text), 0);
		assert_memory_equal(&got, &want, sizeof(want));
		assert_int_equal(cpu_list_count(&got), count);
		assert_true(cpu_list_has(&got, cpu_list_end(&got) - 1));
		assert_false(cpu_list_has(&got, cpu_list_end(&got)));
	}
}

static void test_refuses_invalid_lists(void **state)
{
	static const char *const bad[] = {"x",	"1-", "-1", "3-1", "1;2", "8192", "0-99999999999",
					  "1 2"};
	struct cpu_list list;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(cpu_list_parse(&list, bad[i]), -EINVAL);
	assert_int_equal(cpu_list_parse(&list, ""), 0);
	assert_int_equal(cpu_list_end(&list), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parses_lists),
		cmocka_unit_test(test_refuses_invalid_lists),
	};

	return cmocka_run_group_tests_name("cpu_list", tests, NULL, NULL);
}
