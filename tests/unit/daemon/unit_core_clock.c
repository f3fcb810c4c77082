// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include "daemon/collect/core_clock.h"

static void range_holds_all_that_was_seen(void **state)
{
	struct core_clock clock = {0};
	uint64_t seed = 1, lowest = UINT64_MAX, highest = 0;

	(void)state;
	core_clock_note(&clock, 0);
	assert_int_equal(clock.min_khz, 0);
	assert_int_equal(clock.max_khz, 0);
	for (int i = 0; i < 1000; i++) {
		uint64_t khz = unit_random(&seed) % 5000000;

		core_clock_note(&clock, khz);
		if (khz > 0 && khz < lowest)
			lowest = khz;
		if (khz > highest)
			highest = khz;
		assert_int_equal(clock.min_khz, highest > 0 ? lowest : 0);
		assert_int_equal(clock.max_khz, highest);
	}
}

/* No core of these architectures is slower than 10 MHz or, so far, faster than 20 GHz. */
static void a_real_core_has_a_clock(void **state)
{
	uint64_t khz = core_clock_measure();

	(void)state;
#if defined(__x86_64__) || defined(__aarch64__)
	assert_in_range(khz, 10000, 20000000);
#else
	assert_int_equal(khz, 0);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(range_holds_all_that_was_seen),
		cmocka_unit_test(a_real_core_has_a_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
