// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/gap_pool.h"

#include <math.h>

/* Usual duration of a probe window; relative variance of a rate from one window. */
#define WINDOW_NS 15e6
#define WINDOW_VARIANCE 0.01
/* Rates usually differ by a tenth between epochs; this prior counts as one more epoch. */
#define PRIOR_VARIANCE 0.01
#define PRIOR_EPOCHS 1.0

double gap_pool_window_variance(double gap_ns)
{
	return WINDOW_VARIANCE * WINDOW_NS / gap_ns;
}

static double log_rate(const struct gap_epoch *epoch)
{
	return log(epoch->gaps / epoch->gap_ns);
}

/* struct moments - of logarithms of rates, weighted by 1 / (own variance + @between) */
struct moments {
	double mean;
	double weight;
	double weight_squares;
	double chi_square;
};

static struct moments moments_of(const struct gap_epoch *epochs, size_t count, double between)
{
	struct moments moments = {.mean = 0};

	for (size_t i = 0; i < count; i++) {
		double weight = 1 / (gap_pool_window_variance(epochs[i].gap_ns) + between);

		moments.mean += weight * log_rate(&epochs[i]);
		moments.weight += weight;
		moments.weight_squares += weight * weight;
	}
	moments.mean /= moments.weight;
	for (size_t i = 0; i < count; i++) {
		double off = log_rate(&epochs[i]) - moments.mean;

		moments.chi_square +=
			off * off / (gap_pool_window_variance(epochs[i].gap_ns) + between);
	}
	return moments;
}

static double variance_between(const struct gap_epoch *epochs, size_t count)
{
	struct moments moments = moments_of(epochs, count, 0);
	double free = (double)count - 1, found = 0;

	if (count > 1)
		found = fmax(0, (moments.chi_square - free) /
					(moments.weight - moments.weight_squares / moments.weight));
	return (found * free + PRIOR_VARIANCE * PRIOR_EPOCHS) / (free + PRIOR_EPOCHS);
}

/* A single epoch with all samples needs no pooling. */
static struct gap_pool pool_one(const struct gap_epoch *epoch)
{
	return (struct gap_pool){
		.gaps = epoch->gaps,
		.gap_ns = epoch->gap_ns,
		.variance = gap_pool_window_variance(epoch->gap_ns),
	};
}

struct gap_pool gap_pool_make(const struct gap_epoch *epochs, size_t count, double all)
{
	double between = variance_between(epochs, count), own = 0, shared = 0, rate = 0, rest = all;
	struct moments moments = moments_of(epochs, count, between);
	struct gap_pool pool = {.gaps = 0};

	if (count == 1 && all <= epochs[0].samples)
		return pool_one(&epochs[0]);
	for (size_t i = 0; i < count; i++) {
		double error = gap_pool_window_variance(epochs[i].gap_ns);
		double trust = between / (between + error);
		double executions =
			epochs[i].samples *
			exp(moments.mean + trust * (log_rate(&epochs[i]) - moments.mean));

		pool.gap_ns += epochs[i].gap_ns;
		rate += executions;
		own += executions * executions * error * trust;
		shared += executions * (1 - trust);
		rest -= epochs[i].samples;
	}
	/* Treat all epochs without a measurement as one epoch. */
	if (rest > 0) {
		double executions = rest * exp(moments.mean);

		rate += executions;
		own += executions * executions * between;
		shared += executions;
	}
	if (!(rate > 0) || !(all > 0)) {
		pool.gaps = exp(moments.mean) * pool.gap_ns;
		pool.variance = between + 1 / moments.weight;
		return pool;
	}
	pool.variance = (own + shared * shared / moments.weight) / (rate * rate);
	pool.gaps = rate / fmax(all, all - rest) * pool.gap_ns;
	return pool;
}
