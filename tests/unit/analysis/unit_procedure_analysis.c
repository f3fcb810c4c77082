// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/procedure_analysis.h"
#include "analysis/graph/cfg_create.h"
#include "tests/lib/unit.h"

#include "analysis/insn/insn.h"

#define ADDRESS 0x1000
#define SAMPLES 1000.0
#define TRIPS 100
#define ESTIMATES_MAX 4

/* Inputs of a fake estimator, one after another. */
static struct {
	unsigned int estimates;
	struct cfg_facts facts[ESTIMATES_MAX];
} seen;

static int see(struct frequency *ret, const struct frequency_input *input)
{
	(void)ret;
	assert_in_range(seen.estimates, 0, ESTIMATES_MAX - 1);
	seen.facts[seen.estimates++] = *input->facts;
	return 0;
}

static const struct frequency_estimator seer = {.name = "seer", .by_flow = true, .estimate = see};

/* Begin a loop of 100 iterations; freed by procedure_analysis_deinit(). */
static void begin(struct procedure_analysis *analysis, double samples)
{
	static const uint32_t code[] = {
		0x52800c80, /* mov w0, #100 */
		0x71000400, /* subs w0, w0, #1 */
		0x54ffffe1, /* b.ne back to the subs */
		0xd65f03c0, /* ret */
	};
	const struct address_count count = {.address = ADDRESS + 4, .count = samples};

	seen.estimates = 0;
	*analysis = (struct procedure_analysis){.model = machine_model_find("cortex-a53")};
	assert_non_null(analysis->model);
	assert_int_equal(cfg_create_from_code(&analysis->cfg, &insn_arm64_decoder,
					      (const uint8_t *)code, sizeof(code), ADDRESS, NULL),
			 0);
	assert_int_equal(procedure_profile_create(&analysis->profile, analysis->cfg, &count, 1, 1),
			 0);
}

/* In order there are several estimates of one graph, with facts found once. */
static void test_derives_facts_once(void **state)
{
	struct procedure_analysis analysis;

	(void)state;
	begin(&analysis, SAMPLES);
	analysis.late = true;
	assert_int_equal(procedure_analysis_estimate(&analysis, &seer), 0);
	assert_int_equal(seen.estimates, 3);
	for (unsigned int i = 0; i < seen.estimates; i++) {
		assert_int_equal(seen.facts[i].trips.count, 1);
		assert_true(seen.facts[i].trips.list[0].trips == TRIPS);
		assert_ptr_equal(seen.facts[i].noreturn, seen.facts[0].noreturn);
		assert_ptr_equal(seen.facts[i].trips.list, seen.facts[0].trips.list);
	}
	procedure_analysis_deinit(&analysis);
}

/* Most procedures have no samples: no facts are needed for them. */
static void test_derives_no_facts_without_samples(void **state)
{
	struct procedure_analysis analysis;

	(void)state;
	begin(&analysis, 0);
	assert_int_equal(procedure_analysis_estimate(&analysis, &seer), 0);
	assert_int_equal(seen.estimates, 1);
	assert_null(seen.facts[0].noreturn);
	procedure_analysis_deinit(&analysis);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_derives_facts_once),
		cmocka_unit_test(test_derives_no_facts_without_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
