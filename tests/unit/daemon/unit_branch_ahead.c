// SPDX-License-Identifier: GPL-2.0-only
/* Branches ahead of a sample: remaining executions, and loops whose iterations are skipped. */
#include "tests/lib/unit.h"

#include "daemon/source/branch_ahead.h"
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

static struct branch_ahead ahead;

/* Return: the number of branches found on a path */
static uint32_t remaining_find(struct branch_remaining ret[BRANCH_AHEAD_REMAINING],
			       const struct interpret_edge *path, uint32_t count, uint64_t stuck)
{
	struct interpret_state registers = {.pc = 0};
	bool skipped = false;

	branch_ahead_init(&ahead);
	for (uint32_t i = 0; i < count; i++) {
		assert_true(branch_ahead_visit(&ahead, &registers, &path[i], &skipped));
		assert_false(skipped);
	}
	return branch_ahead_remaining(&ahead, ret, stuck);
}

/* Return: the class of the first branch; UINT32_MAX: none */
static uint32_t class_of(const struct interpret_edge *path, uint32_t count)
{
	struct branch_remaining found[BRANCH_AHEAD_REMAINING];
	uint32_t n = remaining_find(found, path, count, 0);

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
	struct branch_remaining found[BRANCH_AHEAD_REMAINING];

	(void)state;
	assert_int_equal(remaining_find(found, path, 2, 0), 1);
	assert_true(found[0].branch == OTHER && found[0].class == PROFILE_REMAINING_UNKNOWN);
	/* A return or an indirect jump is no branch of a loop. */
	path[0].conditional = false;
	assert_int_equal(remaining_find(found, path, 2, NEXT), 1);
	assert_true(found[0].branch == BRANCH && found[0].class == PROFILE_REMAINING_UNKNOWN);
	assert_int_equal(remaining_find(found, path, 1, NEXT), 1);
	assert_true(found[0].branch == NEXT && found[0].class == PROFILE_REMAINING_UNKNOWN);
	assert_int_equal(remaining_find(found, path, 0, 0), 0);
}

/* After the last iteration of a loop, its first one follows if an outer loop enters it again. */
static void is_not_misled_by_the_next_entry(void **state)
{
	const struct interpret_edge path[] = {edge(BRANCH, NEXT, 0), edge(OTHER, HEAD, 0),
					      edge(BRANCH, HEAD, -47), edge(BRANCH, HEAD, -46)};

	(void)state;
	assert_int_equal(class_of(path, 4), UINT32_MAX);
}

/* The iteration of the inner loop, its square, a constant, and the iteration of the outer loop. */
static void registers_set(struct interpret_state *registers, int64_t inner, int64_t outer)
{
	registers->known = 15;
	registers->reg[0] = (uint64_t)(1000 - inner);
	registers->reg[1] = registers->reg[0] * registers->reg[0];
	registers->reg[2] = 77;
	registers->reg[3] = (uint64_t)(50 - outer);
}

/* A loop of 1000 iterations in another one of 50, both at their beginning. */
static void skips_iterations_of_inner_loops(void **state)
{
	struct interpret_state registers = {.known = 0};
	struct branch_remaining found[BRANCH_AHEAD_REMAINING];
	int64_t inner = 1000, outer = 50;
	uint32_t edges = 0;
	bool more = true;

	(void)state;
	branch_ahead_init(&ahead);
	while (more && outer > 0) {
		bool of_inner = inner >= 0, skipped = false;
		const struct interpret_edge next =
			of_inner ? edge(BRANCH, inner > 0 ? HEAD : NEXT, inner)
				 : edge(OTHER, outer > 1 ? HEAD : NEXT, outer - 1);

		registers_set(&registers, inner, outer);
		more = branch_ahead_visit(&ahead, &registers, &next, &skipped);
		edges++;
		if (skipped) {
			assert_int_equal(registers.known, of_inner ? 13 : 15);
			assert_int_equal(registers.reg[2], 77);
			if (of_inner)
				inner = 1000 - (int64_t)registers.reg[0];
			outer = 50 - (int64_t)registers.reg[3];
		}
		inner = of_inner ? inner - 1 : 1000;
		outer -= !of_inner;
	}
	assert_true(edges < 60);
	assert_int_equal(outer, 0);
	assert_int_equal(branch_ahead_remaining(&ahead, found, 0), 2);
	/* 1001 executions and 50: the binary logarithms are 9.97 and 5.64. */
	assert_true(found[0].branch == BRANCH && found[0].class == 39);
	assert_true(found[1].branch == OTHER && found[1].class == 22);
	assert_int_equal(ahead.far_count, 1);
	assert_true(ahead.far[0].from == OTHER && ahead.far[0].to == HEAD);
}

/* The branch of an outer loop that the interpretation does not reach. */
static void ends_of_loops_are_found_in_code(void **state)
{
	const struct interpret_edge path[] = {edge(OTHER, HEAD, 5)};
	const struct interpret_edge many[] = {edge(BRANCH, HEAD, -99), edge(BRANCH, HEAD, -98)};
	const struct interpret_edge last[] = {edge(BRANCH, NEXT, 0), edge(BRANCH, HEAD, 1)};
	const struct interpret_edge still[] = {edge(BRANCH, HEAD, 8), edge(BRANCH, HEAD, 8)};
	struct branch_remaining found[BRANCH_AHEAD_REMAINING];

	(void)state;
	remaining_find(found, path, 1, 0);
	branch_ahead_latch(&ahead, many);
	assert_int_equal(branch_ahead_remaining(&ahead, found, 0), 2);
	assert_true(found[0].branch == BRANCH && found[0].class == 26);
	assert_true(found[1].branch == OTHER && found[1].class == PROFILE_REMAINING_UNKNOWN);
	remaining_find(found, path, 1, 0);
	branch_ahead_latch(&ahead, last);
	assert_int_equal(branch_ahead_remaining(&ahead, found, 0), 2);
	assert_true(found[0].branch == BRANCH && found[0].class == PROFILE_REMAINING_ONE);
	remaining_find(found, path, 1, 0);
	branch_ahead_latch(&ahead, still);
	assert_int_equal(branch_ahead_remaining(&ahead, found, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_down_and_up),
		cmocka_unit_test(sees_the_end),
		cmocka_unit_test(is_silent_about_others),
		cmocka_unit_test(counts_samples_without_a_number),
		cmocka_unit_test(is_not_misled_by_the_next_entry),
		cmocka_unit_test(skips_iterations_of_inner_loops),
		cmocka_unit_test(ends_of_loops_are_found_in_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
