// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/annotate/calc_bubbles.h"

#define LOAD 0 /* index of an instruction of Figure 2 */

/* An instruction that issues in half a cycle, with a slotting stall and a dynamic stall. */
struct example {
	double slotting;
	double dynamic;
	enum culprit_cause causes[4];
	uint32_t count;
};

static struct calc_bubbles make(struct calc_legend *legend, const struct example *example)
{
	struct schedule_insn schedule = {
		.stall_count = example->slotting > 0,
		.stalls = {{STALL_SLOTTING, example->slotting, UINT32_MAX}},
	};
	struct instruction_cpi cpi = {
		.cpi = 0.5 + example->slotting + example->dynamic,
		.execution = 0.5,
		.static_cycles = example->slotting,
		.dynamic_cycles = example->dynamic,
		.significant = example->dynamic > 0,
		.first = 1,
		.count = example->count,
	};
	struct culprit list[5] = {{0}};
	struct calc_bubbles bubbles;

	for (uint32_t i = 0; i < example->count; i++)
		list[1 + i] = (struct culprit){example->causes[i], 0, example->dynamic, LOAD};
	calc_bubbles_make(&bubbles, legend, &schedule, &cpi, list);
	return bubbles;
}

static void assert_lines(const struct calc_bubbles *bubbles, const char *const *lines)
{
	unsigned int count = 0;

	for (; lines[count] != NULL; count++) {
		assert_true(count < bubbles->count);
		assert_string_equal(bubbles->lines[count], lines[count]);
	}
	assert_int_equal(bubbles->count, count);
}

/* The stalls of Figure 2 are printed in order, for any order of the list of culprits. */
static void test_figure_2(void **state)
{
	static const struct example first = {0, 1.0, {CULPRIT_DTB, CULPRIT_BRANCH}, 2};
	static const struct example second = {
		0, 17.5, {CULPRIT_DTB, CULPRIT_DCACHE, CULPRIT_WRITE_BUFFER}, 3};
	static const struct example none = {0};
	static const struct example third = {
		0.5, 113.5, {CULPRIT_WRITE_BUFFER, CULPRIT_DCACHE, CULPRIT_DTB}, 3};
	static const struct example last = {.slotting = 0.5};
	struct calc_legend legend = {0};
	struct calc_bubbles bubbles = make(&legend, &first);

	(void)state;
	assert_lines(&bubbles, (const char *const[]){"pD    (p = branch mispredict)",
						     "pD    (D = DTB miss)", NULL});
	bubbles = make(&legend, &second);
	assert_lines(&bubbles,
		     (const char *const[]){"dwD   (d = D-cache miss)", "dwD    ... 18.0cy",
					   "dwD   (w = write-buffer overflow)", NULL});
	bubbles = make(&legend, &none);
	assert_int_equal(bubbles.count, 0);
	bubbles = make(&legend, &third);
	assert_lines(&bubbles, (const char *const[]){"s     (s = slotting hazard)", "dwD",
						     "dwD    ... 114.5cy", "dwD", NULL});
	bubbles = make(&legend, &last);
	assert_lines(&bubbles, (const char *const[]){"s", NULL});
}

static void test_stall_without_culprit(void **state)
{
	static const struct example example = {.dynamic = 0.5};
	struct calc_legend legend = {0};
	struct calc_bubbles bubbles = make(&legend, &example);

	(void)state;
	assert_lines(&bubbles, (const char *const[]){"?     (? = not explained)", NULL});
}

static void test_no_bubbles_for_noise(void **state)
{
	static const struct culprit list[1] = {{CULPRIT_DCACHE, 1, 2, 0}};
	struct schedule_insn schedule = {.stall_count = 1, .stalls = {{STALL_SLOTTING, 1, 0}}};
	struct instruction_cpi cpi = {
		.cpi = NAN, .dynamic_cycles = NAN, .significant = true, .count = 1};
	struct calc_legend legend = {0};
	struct calc_bubbles bubbles;

	(void)state;
	calc_bubbles_make(&bubbles, &legend, &schedule, &cpi, list);
	assert_int_equal(bubbles.count, 0);
	schedule.stall_count = 0;
	cpi = (struct instruction_cpi){.cpi = 3, .dynamic_cycles = 2, .count = 1};
	calc_bubbles_make(&bubbles, &legend, &schedule, &cpi, list);
	assert_int_equal(bubbles.count, 0);
	cpi = (struct instruction_cpi){.cpi = 1, .dynamic_cycles = -2, .significant = true};
	calc_bubbles_make(&bubbles, &legend, &schedule, &cpi, list);
	assert_int_equal(bubbles.count, 0);
	assert_int_equal(legend.causes, 0);
	assert_int_equal(legend.stalls, 0);
}

/* For all combinations of stalls, each letter is explained once, at its first use. */
static void test_explains_each_letter_once(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct calc_legend legend = {0};
		char explained[128] = "";

		for (int i = 0; i < 6; i++) {
			struct example example = {
				.slotting = (double)(unit_random(&seed) % 4) / 2,
				.dynamic = (double)(unit_random(&seed) % 40) / 4,
				.count = (uint32_t)(unit_random(&seed) % 5),
			};
			struct calc_bubbles bubbles;

			for (uint32_t k = 0; k < example.count; k++)
				example.causes[k] =
					(enum culprit_cause)(unit_random(&seed) % CULPRIT_CAUSES);
			bubbles = make(&legend, &example);
			for (unsigned int line = 0; line < bubbles.count; line++) {
				for (const char *p = bubbles.lines[line];
				     (p = strstr(p, " = ")) != NULL; p++) {
					assert_null(strchr(explained, p[-1]));
					strncat(explained, p - 1, 1);
				}
			}
			for (unsigned int line = 0; line < bubbles.count; line++) {
				for (const char *p = bubbles.lines[line]; *p != ' ' && *p != '\0';
				     p++)
					assert_non_null(strchr(explained, *p));
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure_2),
		cmocka_unit_test(test_stall_without_culprit),
		cmocka_unit_test(test_no_bubbles_for_noise),
		cmocka_unit_test(test_explains_each_letter_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
