// SPDX-License-Identifier: GPL-2.0-only
/*
 * Epochs with known rates are simulated and measured: the pooled interval must contain the true
 * rate.
 */
#include "tests/lib/unit.h"

#include <math.h>

#include "analysis/frequency/gap_pool.h"

#define EPOCHS_MAX 16
#define DRAWS 4000
#define WINDOW_NS 15e6
/* Nine in ten values are within this number of standard deviations. */
#define SIGMAS 1.645

static double uniform(uint64_t *random)
{
	return ((double)(unit_random(random) >> 11) + 0.5) / (double)(1ULL << 53);
}

static double normal(uint64_t *random)
{
	return sqrt(-2 * log(uniform(random))) * cos(6.283185307179586 * uniform(random));
}

/*
 * struct kind - distribution of epochs
 * @spread:   standard deviation of the logarithm of an epoch's rate
 * @measured: share of epochs that have a measurement
 * @windows:  of a measured epoch, at most
 */
struct kind {
	double spread;
	double measured;
	unsigned int windows;
};

/* struct coverage - @held: share of all draws; @width: mean of the interval's half width */
struct coverage {
	double held;
	double width;
	double error;
};

struct drawn {
	struct gap_epoch epochs[EPOCHS_MAX];
	size_t count;
	double all;
	double executions;
};

static void draw(struct drawn *drawn, const struct kind *kind, size_t epochs, uint64_t *random)
{
	*drawn = (struct drawn){.count = 0};
	for (size_t i = 0; i < epochs; i++) {
		double rate = 1e-4 * exp(kind->spread * normal(random));
		double samples = 1000 * (1 + (double)(unit_random(random) % 5));
		double windows = 1 + (double)(unit_random(random) % kind->windows);
		double error = 0.1 / sqrt(windows) * normal(random);

		drawn->all += samples;
		drawn->executions += samples * rate;
		if (uniform(random) >= kind->measured && (i + 1 < epochs || drawn->count > 0))
			continue;
		drawn->epochs[drawn->count++] = (struct gap_epoch){
			.gaps = windows * WINDOW_NS * rate * exp(error),
			.gap_ns = windows * WINDOW_NS,
			.samples = samples,
		};
	}
}

static struct coverage cover(const struct kind *kind, size_t epochs)
{
	struct coverage coverage = {.held = 0};
	uint64_t random = 40 + epochs;

	for (unsigned int i = 0; i < DRAWS; i++) {
		struct drawn drawn;
		struct gap_pool pool;
		double off, width;

		draw(&drawn, kind, epochs, &random);
		pool = gap_pool_make(drawn.epochs, drawn.count, drawn.all);
		off = log(pool.gaps / pool.gap_ns * drawn.all / drawn.executions);
		width = SIGMAS * sqrt(pool.variance);
		coverage.held += fabs(off) <= width;
		coverage.width += width / DRAWS;
		coverage.error += off * off / DRAWS;
	}
	coverage.held /= DRAWS;
	return coverage;
}

static const struct kind kinds[] = {
	{0, 1, 1},   {0, 1, 8},	  {0.1, 1, 4},	{0.1, 0.5, 4},
	{0.3, 1, 4}, {0, 0.3, 4}, {0.3, 1, 40}, {1, 1, 4},
};

#define KINDS (sizeof(kinds) / sizeof(*kinds))

static void test_pooled_intervals_hold_the_truth(void **state)
{
	(void)state;
	for (size_t k = 0; k < KINDS; k++) {
		for (size_t epochs = 1; epochs <= EPOCHS_MAX; epochs += epochs < 4 ? 1 : 4) {
			struct coverage coverage = cover(&kinds[k], epochs);

			if (coverage.held < 0.87)
				print_message("kind %zu, %zu epochs: %.3f\n", k, epochs,
					      coverage.held);
			assert_true(coverage.held >= 0.87);
		}
	}
}

static void test_more_epochs_narrow_the_interval(void **state)
{
	(void)state;
	for (size_t k = 0; k < KINDS; k++) {
		struct coverage few = cover(&kinds[k], 3), more = cover(&kinds[k], 8);
		struct coverage most = cover(&kinds[k], 16);

		assert_true(more.width < few.width && most.width < more.width);
		assert_true(most.error < few.error);
	}
}

/* A fast epoch with a long measurement and a slow one with nearly all of the samples. */
static void test_epochs_count_by_their_samples(void **state)
{
	const struct gap_epoch epochs[] = {
		{.gaps = 1e6, .gap_ns = 1e9, .samples = 100},
		{.gaps = 1e3, .gap_ns = 1e8, .samples = 9900},
	};
	struct gap_pool pool = gap_pool_make(epochs, 2, 10000);
	double rate = (100 * 1e-3 + 9900 * 1e-5) / 10000;

	(void)state;
	assert_float_equal(pool.gaps / pool.gap_ns / rate, 1, 0.05);
	assert_float_equal(pool.gap_ns, 1.1e9, 1);
}

static void test_one_epoch_stays_what_it_is(void **state)
{
	const struct gap_epoch epoch = {.gaps = 300, .gap_ns = 3e7, .samples = 500};
	struct gap_pool pool = gap_pool_make(&epoch, 1, 500);

	(void)state;
	assert_float_equal(pool.gaps, 300, 1e-9);
	assert_float_equal(pool.gap_ns, 3e7, 1e-3);
	assert_float_equal(pool.variance, 0.005, 1e-9);
	/* Other epochs may have other rates. */
	assert_true(gap_pool_make(&epoch, 1, 1000).variance > 0.005);
	/* Without samples in its epoch, a measurement is still the best one available. */
	pool = gap_pool_make(&(struct gap_epoch){.gaps = 300, .gap_ns = 3e7}, 1, 0);
	assert_float_equal(pool.gaps, 300, 1e-6);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pooled_intervals_hold_the_truth),
		cmocka_unit_test(test_more_epochs_narrow_the_interval),
		cmocka_unit_test(test_epochs_count_by_their_samples),
		cmocka_unit_test(test_one_epoch_stays_what_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
