// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <stdbool.h>
#include <string.h>

#include "daemon/image/generation.h"

static bool has[DCPI_GENERATION_MAX + 1];

static void own_ones_come_round_without_those_that_mean_something(void **state)
{
	uint32_t generation = 0, i;

	(void)state;
	for (i = 0; i < 3 * DCPI_GENERATION_MAX; i++) {
		generation = generation_next(generation, true);
		assert_in_range(generation, 1, GENERATION_OWN_MAX);
	}
	assert_int_equal(generation_next(GENERATION_OWN_MAX, true), 1);
	assert_int_equal(generation_next(DCPI_GENERATION_MAX, false), 0);
	assert_int_equal(generation_next(GENERATION_ANY, false), GENERATION_ANY);
	assert_int_equal(generation_next(GENERATION_NONE, false), GENERATION_NONE);
}

/* A span contains all generations from its first to its last, and no others. */
static void a_span_has_what_lies_between(void **state)
{
	uint64_t random = 1;
	int round;

	(void)state;
	for (round = 0; round < 400; round++) {
		bool own = round % 2;
		struct generation_span span = {0};
		uint32_t generation = (uint32_t)(own + unit_random(&random) % GENERATION_OWN_MAX);
		uint32_t adds = 1 + (uint32_t)(unit_random(&random) % 30), i, step;

		memset(has, 0, sizeof(has));
		for (i = 0; i < adds; i++) {
			generation_span_add(&span, generation, own);
			generation_span_add(&span, GENERATION_NONE, own);
			has[generation] = true;
			if (i + 1 == adds)
				break;
			for (step = (uint32_t)(unit_random(&random) % 80); step > 0; step--) {
				generation = generation_next(generation, own);
				has[generation] = true;
			}
		}
		for (i = own; i <= DCPI_GENERATION_MAX - own; i++)
			assert_int_equal(generation_span_has(&span, i, own), has[i]);
		/* The generation of a process that is not known yet. */
		assert_false(own && generation_span_has(&span, 0, own));
	}
}

static void none_has_none_any_has_all(void **state)
{
	struct generation_span span = {0};
	uint32_t i;

	(void)state;
	for (i = 0; i <= DCPI_GENERATION_MAX; i++)
		assert_false(generation_span_has(&span, i, false));
	generation_span_add(&span, GENERATION_ANY, false);
	for (i = 0; i <= DCPI_GENERATION_MAX; i++)
		assert_true(generation_span_has(&span, i, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_ones_come_round_without_those_that_mean_something),
		cmocka_unit_test(a_span_has_what_lies_between),
		cmocka_unit_test(none_has_none_any_has_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
