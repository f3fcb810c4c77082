// SPDX-License-Identifier: GPL-2.0-only
/* Scales of counts for the test's own executable, with generated samples and counts. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/exact_scale.h"
#include "analysis/image_analysis.h"
#include "lib/error.h"
#include "tests/fixtures/made_up_samples.h"
#include "tests/fixtures/self_image.h"

static const struct image_analysis_options options = {.threads = 1};

/* Estimates are SCALE times the counts, except for every ninth block. */
#define SCALE 7
#define ODD_ONE_IN 9
/*
 * Optionally two of three blocks wait: they take that many times as long, so their frequency is
 * overestimated by this factor.
 */
#define WAITING_TIMES 200

struct made_up_counts {
	bool waiting;
	struct exact_range *ranges;
	struct exact_counts exact;
	size_t blocks;
};

static int count_blocks(void *ctx, const struct procedure_analysis *analysis)
{
	struct made_up_counts *counts = ctx;
	const struct cfg *cfg = analysis->cfg;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct insn *last =
			&cfg->insns[cfg->blocks[b].first + cfg->blocks[b].count - 1];
		double count = analysis->frequency.blocks[b].value * 62000 / SCALE;

		if (count <= 0 || counts->exact.range_count == COUNTS_MAX)
			continue;
		if (counts->waiting && counts->blocks++ % 3 != 0)
			count /= WAITING_TIMES;
		else if (!counts->waiting && counts->blocks++ % ODD_ONE_IN == 0)
			count *= 1000;
		counts->ranges[counts->exact.range_count++] =
			(struct exact_range){cfg->insns[cfg->blocks[b].first].address,
					     last->address + last->bytes, count};
	}
	return 0;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct exact_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Set the counts from the estimates of the samples; the caller frees the ranges. */
static void count(struct made_up_counts *counts, struct made_up *made_up, bool waiting)
{
	struct error err;

	*counts = (struct made_up_counts){
		.waiting = waiting,
		.ranges = allocate(COUNTS_MAX, sizeof(struct exact_range)),
	};
	assert_int_equal(image_analysis_run(self, &made_up->samples, &options, count_blocks, counts,
					    NULL, &err),
			 0);
	qsort(counts->ranges, counts->exact.range_count, sizeof(*counts->ranges), compare_ranges);
	counts->exact.ranges = counts->ranges;
	made_up->samples.exact = counts->exact;
}

static int find(struct exact_scale *scale, const struct made_up *made_up, double likely)
{
	struct error err;

	return exact_scale_find(scale, self, &made_up->samples, &options, likely, &err);
}

/* Blocks with counts have their counts, scaled. */
static int check_counted(void *ctx, const struct procedure_analysis *analysis)
{
	const struct exact_counts *exact = ctx;
	const struct cfg *cfg = analysis->cfg;

	for (uint32_t b = 0; analysis->profile.exact != NULL && b < cfg->block_count; b++) {
		const struct frequency_estimate *estimate = &analysis->frequency.blocks[b];
		double want = exact->scale *
			      exact_counts_of(exact, cfg->insns[cfg->blocks[b].first].address);

		assert_int_equal(estimate->origin, FREQUENCY_EXACT);
		assert_float_equal(estimate->value * 62000, want, 1e-5 * want);
		assert_float_equal(estimate->low * 62000, want / 2, 1e-5 * want);
		assert_float_equal(estimate->high * 62000, want * 3, 1e-5 * want);
	}
	return 0;
}

static void test_exact_scale(void **state)
{
	struct made_up_counts counts;
	struct exact_scale scale;
	struct made_up made_up;
	struct error err;

	(void)state;
	make_up(&made_up, self, 4);
	/* There are no counts. */
	assert_int_equal(find(&scale, &made_up, 0), -ENODATA);
	count(&counts, &made_up, false);
	assert_int_equal(find(&scale, &made_up, 0), 0);
	assert_float_equal(scale.value, SCALE, 1e-6);
	assert_true(scale.low > 0 && scale.low <= SCALE + 1e-6 && scale.high >= SCALE - 1e-6);
	/* Only the odd blocks disagree; they may have more samples than others. */
	assert_true(scale.agree > 1 - 3.0 / ODD_ONE_IN && scale.agree < 1);
	assert_false(scale.likely);
	/* The likely scale is used if it is possible. */
	assert_int_equal(find(&scale, &made_up, 5), 0);
	assert_true(scale.likely);
	assert_float_equal(scale.value, 5, 1e-9);
	assert_int_equal(find(&scale, &made_up, 5000), 0);
	assert_false(scale.likely);
	assert_float_equal(scale.expected, 5000, 1e-9);
	assert_float_equal(scale.value, SCALE, 1e-6);
	counts.exact.scale = 5;
	counts.exact.scale_low = 2.5;
	counts.exact.scale_high = 15;
	made_up.samples.exact = counts.exact;
	assert_int_equal(image_analysis_run(self, &made_up.samples, &options, check_counted,
					    &counts.exact, NULL, &err),
			 0);
	free(counts.ranges);
	forget(&made_up);
}

/* The scale is found if most samples and most blocks are of code that waits for memory. */
static void test_exact_scale_of_stalled_blocks(void **state)
{
	struct made_up_counts counts;
	struct exact_scale scale;
	struct made_up made_up;

	(void)state;
	make_up(&made_up, self, 4);
	count(&counts, &made_up, true);
	assert_int_equal(find(&scale, &made_up, 0), 0);
	assert_float_equal(scale.value, SCALE, 1e-6);
	assert_true(scale.low < SCALE && scale.high > SCALE && scale.high < 10 * SCALE);
	free(counts.ranges);
	forget(&made_up);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_scale),
		cmocka_unit_test(test_exact_scale_of_stalled_blocks),
	};

	return cmocka_run_group_tests(tests, open_self, close_self);
}
