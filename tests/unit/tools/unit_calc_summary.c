// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <stdio.h>
#include <string.h>

#include "tools/annotate/calc_summary.h"

#define SAMPLES 35171.0
#define SHARE(percent) ((percent)*SAMPLES / 100)

/* DCPI's Figure 4: procedure smooth, fast run. */
static const struct stall_summary figure_4 = {
	.low = {[CULPRIT_DCACHE] = SHARE(27.9),
		[CULPRIT_DTB] = SHARE(9.2),
		[CULPRIT_UNEXPLAINED] = SHARE(2.3)},
	.high = {[CULPRIT_ICACHE] = SHARE(0.3),
		 [CULPRIT_DCACHE] = SHARE(27.9),
		 [CULPRIT_DTB] = SHARE(18.3),
		 [CULPRIT_WRITE_BUFFER] = SHARE(6.3),
		 [CULPRIT_BRANCH] = SHARE(2.6),
		 [CULPRIT_UNEXPLAINED] = SHARE(2.3)},
	.dynamic = SHARE(44.1 + 4.3),
	.gain = SHARE(-4.3),
	.stalls = {[STALL_SLOTTING] = SHARE(1.8),
		   [STALL_RA_DEPENDENCY] = SHARE(2.0),
		   [STALL_RB_DEPENDENCY] = SHARE(1.0)},
	.execution = SHARE(51.2),
	.sampling_error = SHARE(-0.1),
	.tallied = SAMPLES,
	.samples = SAMPLES,
	.best_cycles = 14686,
	.actual_cycles = 35171,
	.instructions = 36016,
	.published = true,
};

static const char layout[] = "*** Best-case 14686/36016 = 0.41CPI,\n"
			     "*** Actual    35171/36016 = 0.98CPI\n"
			     "***\n"
			     "*** I-cache (not ITB)        0.0% to    0.3%\n"
			     "*** ITB/I-cache miss         0.0% to    0.0%\n"
			     "*** D-cache miss            27.9% to   27.9%\n"
			     "*** DTB miss                 9.2% to   18.3%\n"
			     "*** Write buffer             0.0% to    6.3%\n"
			     "*** Synchronization          0.0% to    0.0%\n"
			     "***\n"
			     "*** Branch mispredict        0.0% to    2.6%\n"
			     "*** IMUL busy                0.0% to    0.0%\n"
			     "*** FDIV busy                0.0% to    0.0%\n"
			     "*** Other                    0.0% to    0.0%\n"
			     "***\n"
			     "*** Unexplained stall        2.3% to    2.3%\n"
			     "*** Unexplained gain        -4.3% to   -4.3%\n"
			     "*** -----------------------------------------\n"
			     "*** Subtotal dynamic                   44.1%\n"
			     "***\n"
			     "*** Slotting                 1.8%\n"
			     "*** Ra dependency            2.0%\n"
			     "*** Rb dependency            1.0%\n"
			     "*** Rc dependency            0.0%\n"
			     "*** FU dependency            0.0%\n"
			     "*** -----------------------------------------\n"
			     "*** Subtotal static                     4.8%\n"
			     "*** -----------------------------------------\n"
			     "*** Total stall                        48.9%\n"
			     "*** Execution                          51.2%\n"
			     "*** Net sampling error                 -0.1%\n"
			     "*** -----------------------------------------\n"
			     "*** Total tallied                     100.0%\n"
			     "*** (35171, 93.1% of all samples)\n";

/* The line with the interval of the CPI follows the lines of the paper. */
static const char intervals[] = "*** Actual    35171/36016 = 0.98CPI\n"
				"*** Interval  0.78 to 1.22CPI; sampling error at most +-1.0%\n";

static char *print(const struct stall_summary *summary)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *stream = open_memstream(&text, &bytes);

	assert_non_null(stream);
	calc_summary_print(stream, summary, SAMPLES / 0.931);
	assert_int_equal(fclose(stream), 0);
	return text;
}

static void test_layout_of_figure_4(void **state)
{
	char *text = print(&figure_4);

	(void)state;
	assert_string_equal(text, layout);
	free(text);
}

static void test_an_estimate_has_intervals(void **state)
{
	struct stall_summary estimated = figure_4;
	char *text;

	(void)state;
	estimated.published = false;
	estimated.error_variance = SHARE(1) * SHARE(1) / (1.645 * 1.645);
	estimated.fewer.shared = 0.2 * estimated.instructions;
	estimated.more.own = 0.25 * 0.25 * estimated.instructions * estimated.instructions;
	text = print(&estimated);
	assert_non_null(strstr(text, intervals));
	free(text);
	estimated.fewer.shared = estimated.instructions;
	text = print(&estimated);
	assert_non_null(strstr(text, "*** Interval  0.78CPI or more; "));
	free(text);
}

static void test_empty_summary(void **state)
{
	static const struct stall_summary empty = {0};
	char *text = print(&empty);

	(void)state;
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
	assert_non_null(strstr(text, "Total tallied                       0.0%"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout_of_figure_4),
		cmocka_unit_test(test_an_estimate_has_intervals),
		cmocka_unit_test(test_empty_summary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
