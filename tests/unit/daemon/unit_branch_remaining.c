// SPDX-License-Identifier: GPL-2.0-only
/* Remaining executions of branches, from interpreted paths. */
#include "tests/lib/unit.h"

#include "daemon/source/branch_remaining.h"
#include "db/profile.h"

#define BRANCH UINT64_C(0x401020)
#define HEAD UINT64_C(0x401000)
#define NEXT UINT64_C(0x401022)
#define OTHER UINT64_C(0x401010)

static struct interpret_edge edge(uint64_t from, uint64_t to, int64_t result)
{
	return (struct interpret_edge){
		.from = from, .to = to, .conditional = true, .has_result = true, .result = result};
}

/* Return: the class of the first branch; UINT32_MAX: none */
static uint32_t class_of(const struct interpret_edge *path, uint32_t count)
{
	struct branch_remaining found[8];
	uint32_t n = branch_remaining_find(found, path, count, 0);

	assert_true(n <= 1);
	if (n == 0 || found[0].class == PROFILE_REMAINING_UNKNOWN)
		return UINT32_MAX;
	assert_int_equal(found[0].branch, BRANCH);
	return found[0].class;
}

static void counts_down_and_up(void **state)
{
	const struct interpret_edge down[] = {edge(BRANCH, HEAD, 8 * 1023),
					      edge(BRANCH, HEAD, 8 * 1022),
					      edge(BRANCH, HEAD, 8 * 1021)};
	const struct interpret_edge up[] = {edge(BRANCH, HEAD, -255), edge(OTHER, OTHER + 2, 7),
					    edge(BRANCH, HEAD, -254)};

	(void)state;
	assert_int_equal(class_of(down, 3), 10 * PROFILE_REMAINING_PER_OCTAVE);
	assert_int_equal(class_of(up, 3), 8 * PROFILE_REMAINING_PER_OCTAVE);
}

static void sees_the_end(void **state)
{
	const struct interpret_edge path[] = {edge(BRANCH, HEAD, 2), edge(BRANCH, HEAD, 1),
					      edge(BRANCH, NEXT, 0)};

	(void)state;
	/* 3 executions: the binary logarithm is 1.58. */
	assert_int_equal(class_of(path, 3), 6);
}

static void is_silent_about_others(void **state)
{
	const struct interpret_edge once[] = {edge(BRANCH, HEAD, 9)};
	const struct interpret_edge away[] = {edge(BRANCH, HEAD, 9), edge(BRANCH, HEAD, 10)};
	const struct interpret_edge uneven[] = {edge(BRANCH, HEAD, 90), edge(BRANCH, HEAD, 80),
						edge(BRANCH, HEAD, 79)};
	const struct interpret_edge same[] = {edge(BRANCH, HEAD, 9), edge(BRANCH, HEAD, 9)};
	const struct interpret_edge far[] = {edge(BRANCH, HEAD, INT64_MIN),
					     edge(BRANCH, HEAD, INT64_MIN + 1)};
	struct interpret_edge unknown[] = {edge(BRANCH, HEAD, 9), edge(BRANCH, HEAD, 8)};

	(void)state;
	unknown[1].has_result = false;
	assert_int_equal(class_of(once, 1), UINT32_MAX);
	assert_int_equal(class_of(away, 2), UINT32_MAX);
	assert_int_equal(class_of(uneven, 3), UINT32_MAX);
	assert_int_equal(class_of(same, 2), UINT32_MAX);
	assert_int_equal(class_of(far, 2), UINT32_MAX);
	assert_int_equal(class_of(unknown, 2), UINT32_MAX);
	assert_int_equal(class_of(unknown, 0), UINT32_MAX);
}

/* Otherwise samples near the end of a loop would be taken for all samples. */
static void counts_samples_without_a_number(void **state)
{
	struct interpret_edge path[] = {edge(OTHER, HEAD, 0), edge(BRANCH, HEAD, 9)};
	struct branch_remaining found[2];

	(void)state;
	assert_int_equal(branch_remaining_find(found, path, 2, 0), 1);
	assert_true(found[0].branch == OTHER && found[0].class == PROFILE_REMAINING_UNKNOWN);
	/* A return or an indirect jump is no branch of a loop. */
	path[0].conditional = false;
	assert_int_equal(branch_remaining_find(found, path, 2, NEXT), 1);
	assert_true(found[0].branch == BRANCH && found[0].class == PROFILE_REMAINING_UNKNOWN);
	assert_int_equal(branch_remaining_find(found, path, 1, NEXT), 1);
	assert_true(found[0].branch == NEXT && found[0].class == PROFILE_REMAINING_UNKNOWN);
	assert_int_equal(branch_remaining_find(found, path, 0, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_down_and_up),
		cmocka_unit_test(sees_the_end),
		cmocka_unit_test(is_silent_about_others),
		cmocka_unit_test(counts_samples_without_a_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
