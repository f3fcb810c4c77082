// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/statistics/significance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/statistics/distribution.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Limit on the number of rows that are removed from a total. */
#define REMOVED_MAX 500
/* At least 1 / LEFT_MIN of a total's samples must remain. */
#define LEFT_MIN 10
#define INTERVAL_TAIL 0.025 /* of 95% intervals, on each side */

/*
 * struct work - state of a comparison
 * @trials: of each set: total samples that a row's share refers to (norms by total); else the
 *          exposure
 * @order:  memory for sorting rows
 * @phi:    background part of the variance, in proportion to the square of the mean
 */
struct work {
	const struct significance_config *config;
	const struct significance_cell *cells;
	size_t rows;
	struct significance *out;
	double *trials;
	struct significance_row **order;
	double phi;
};

static bool by_total(const struct work *work)
{
	return work->config->norm == SIGNIFICANCE_TOTAL || work->config->norm == SIGNIFICANCE_REST;
}

static const struct significance_cell *cell(const struct work *work, size_t row, size_t set)
{
	return &work->cells[row * work->config->sets + set];
}

static struct significance_cell rest_of(const struct work *work, size_t set)
{
	return work->config->rest != NULL ? work->config->rest[set] : (struct significance_cell){0};
}

static void add_totals(struct work *work)
{
	for (size_t set = 0; set < work->config->sets; set++)
		work->out->totals[set] = rest_of(work, set);
	for (size_t row = 0; row < work->rows; row++) {
		for (size_t set = 0; set < work->config->sets; set++) {
			work->out->totals[set].samples += cell(work, row, set)->samples;
			work->out->totals[set].value += cell(work, row, set)->value;
		}
	}
}

/* Compute multipliers that leave an average set unchanged. */
static void make_factors(struct work *work)
{
	const struct significance_config *config = work->config;
	double *factors = work->out->factors, mean = 0;

	for (size_t set = 0; set < config->sets; set++) {
		factors[set] = 1;
		if (config->norm == SIGNIFICANCE_TIME)
			factors[set] = config->seconds[set];
		if (by_total(work))
			factors[set] = rest_of(work, set).value;
		for (size_t row = 0; by_total(work) && row < work->rows; row++) {
			if (work->out->rows[row].in_total)
				factors[set] += cell(work, row, set)->value;
		}
		mean += factors[set] / (double)config->sets;
	}
	for (size_t set = 0; set < config->sets; set++)
		factors[set] = factors[set] > 0 ? mean / factors[set] : 0;
}

/* Compute the trials from samples as taken, because these are random. */
static void make_trials(struct work *work)
{
	for (size_t set = 0; set < work->config->sets; set++) {
		const struct significance_cell *total = &work->out->totals[set];

		if (!by_total(work)) {
			work->trials[set] = total->samples / total->value / work->out->factors[set];
			continue;
		}
		work->trials[set] = rest_of(work, set).samples;
		for (size_t row = 0; row < work->rows; row++) {
			if (work->out->rows[row].in_total)
				work->trials[set] += cell(work, row, set)->samples;
		}
	}
}

/* A row that was removed from the total is compared with the total plus the row itself. */
static double trials_of(const struct work *work, size_t row, size_t set)
{
	bool apart = by_total(work) && !work->out->rows[row].in_total;

	return work->trials[set] + (apart ? cell(work, row, set)->samples : 0);
}

/*
 * Compute X2 with background variance @phi. @mean_mean: out: mean of the expected counts, each
 * divided by its binomial factor 1 - share.
 */
static double chi_square(const struct work *work, size_t row, double phi, double *mean_mean)
{
	double samples = work->out->rows[row].samples, trials = 0, sum = 0, share, binomial;

	for (size_t set = 0; set < work->config->sets; set++)
		trials += trials_of(work, row, set);
	share = samples / trials;
	binomial = by_total(work) ? 1 - share : 1;
	*mean_mean = samples / (double)work->config->sets / binomial;
	for (size_t set = 0; set < work->config->sets && binomial > 0; set++) {
		double mean = share * trials_of(work, row, set);
		double off = cell(work, row, set)->samples - mean;

		if (mean > 0)
			sum += off * off / (mean * binomial + phi * mean * mean);
	}
	return sum;
}

/* Return the spread that explains the value of X2, if sampling alone would make it @expected. */
static double spread_of(double chi_square, double expected, double mean)
{
	double square = (chi_square / expected - 1) / mean;

	return square > 0 ? sqrt(square) : 0;
}

static void test_row(const struct work *work, size_t row)
{
	double df = (double)(work->config->sets - 1), mean, x;
	struct significance_row *out = &work->out->rows[row];

	out->p = out->q = 1;
	out->tested = out->samples >= SIGNIFICANCE_SAMPLES_MIN * (double)work->config->sets;
	if (!out->tested)
		return;
	x = chi_square(work, row, 0, &mean);
	/* false for the only row of a total: its share is 1 */
	out->tested = isfinite(mean);
	if (!out->tested)
		return;
	out->dispersion = x / df;
	out->spread = spread_of(x, df, mean);
	out->spread_low = spread_of(x, distribution_chi_square_quantile(INTERVAL_TAIL, df), mean);
	out->spread_high =
		spread_of(x, distribution_chi_square_quantile(1 - INTERVAL_TAIL, df), mean);
	if (work->phi > 0)
		x = chi_square(work, row, work->phi, &mean);
	out->p = distribution_chi_square_tail(x, df);
}

static void test_rows(const struct work *work)
{
	work->out->tested = 0;
	for (size_t row = 0; row < work->rows; row++) {
		test_row(work, row);
		work->out->tested += work->out->rows[row].tested;
	}
}

/* Return the number of the row to remove from the total next, or -1. */
static long find_worst(const struct work *work)
{
	long worst = -1;

	for (size_t row = 0; row < work->rows; row++) {
		const struct significance_row *out = &work->out->rows[row];

		if (out->tested && out->in_total &&
		    (worst < 0 || out->p < work->out->rows[worst].p ||
		     (out->p == work->out->rows[worst].p &&
		      out->dispersion > work->out->rows[worst].dispersion)))
			worst = (long)row;
	}
	/* Holm's first step, over all rows: earlier removals were such steps. */
	if (worst < 0 ||
	    work->out->rows[worst].p * (double)(work->out->tested - work->out->removed) >
		    work->config->level)
		return -1;
	return worst;
}

static double samples_in_total(const struct work *work)
{
	double sum = 0;

	for (size_t set = 0; set < work->config->sets; set++)
		sum += rest_of(work, set).samples;
	for (size_t row = 0; row < work->rows; row++)
		sum += work->out->rows[row].in_total ? work->out->rows[row].samples : 0;
	return sum;
}

/* Return true if each set has samples left without a row. */
static bool can_leave(const struct work *work, size_t row)
{
	for (size_t set = 0; set < work->config->sets; set++) {
		if (work->trials[set] - cell(work, row, set)->samples <= 0)
			return false;
	}
	return true;
}

static void leave_out(struct work *work, double all)
{
	double left = all;
	long worst;

	while (work->out->removed < REMOVED_MAX && (worst = find_worst(work)) >= 0) {
		left -= work->out->rows[worst].samples;
		if (left < all / LEFT_MIN || !can_leave(work, (size_t)worst))
			return;
		work->out->rows[worst].in_total = false;
		work->out->removed++;
		make_trials(work);
		test_rows(work);
	}
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Find the median of the rows' own variation, and test all rows again with it as the background. */
static int grant_background(struct work *work)
{
	_cleanup_free_ double *found = calloc(work->rows + 1, sizeof(*found));
	double usual = distribution_chi_square_quantile(0.5, (double)(work->config->sets - 1));
	double mean;
	size_t count = 0;

	if (found == NULL)
		return -ENOMEM;
	for (size_t row = 0; row < work->rows; row++) {
		if (!work->out->rows[row].tested)
			continue;
		/*
		 * Negative values, from rows that vary little by chance, are needed for the median.
		 */
		found[count] = chi_square(work, row, 0, &mean) / usual - 1;
		found[count++] /= mean;
	}
	if (count == 0)
		return 0;
	qsort(found, count, sizeof(*found), compare_double);
	work->phi = (found[(count - 1) / 2] + found[count / 2]) / 2;
	if (work->phi <= 0)
		return 0;
	work->out->background = sqrt(work->phi);
	test_rows(work);
	return 0;
}

static int compare_p(const void *a, const void *b)
{
	const struct significance_row *x = *(const struct significance_row *const *)a;
	const struct significance_row *y = *(const struct significance_row *const *)b;

	return (x->p > y->p) - (x->p < y->p);
}

/* Benjamini and Hochberg: q is the smallest p * tests / rank of this and later ranks. */
static void correct(struct work *work)
{
	struct significance_row **order = work->order;
	double least = 1;
	size_t count = 0;

	for (size_t row = 0; row < work->rows; row++) {
		if (work->out->rows[row].tested)
			order[count++] = &work->out->rows[row];
	}
	if (count > 0)
		qsort(order, count, sizeof(*order), compare_p);
	for (size_t i = count; i-- > 0;) {
		double q = order[i]->p * (double)count / (double)(i + 1);

		least = q < least ? q : least;
		order[i]->q = least;
		order[i]->significant = least <= work->config->level;
		work->out->significant += order[i]->significant;
	}
}

static void describe_row(struct work *work, size_t row, double student)
{
	struct significance_row *out = &work->out->rows[row];
	size_t sets = work->config->sets;
	double *values = &work->out->values[row * sets], squares = 0;

	for (size_t set = 0; set < sets; set++) {
		values[set] = cell(work, row, set)->value * work->out->factors[set];
		out->present += cell(work, row, set)->samples > 0;
		out->sum += values[set];
		if (values[set] < values[out->least])
			out->least = set;
		if (values[set] > values[out->most])
			out->most = set;
	}
	out->mean = out->sum / (double)sets;
	for (size_t set = 0; set < sets; set++)
		squares += (values[set] - out->mean) * (values[set] - out->mean);
	out->std_dev = sqrt(squares / (double)(sets - 1));
	out->min = values[out->least];
	out->max = values[out->most];
	out->range = out->sum > 0 ? (out->max - out->min) / out->sum : 0;
	out->half = student * out->std_dev / sqrt((double)sets);
}

static void variation_describe(struct work *work)
{
	double student =
		distribution_student_quantile(INTERVAL_TAIL, (unsigned int)work->config->sets - 1);
	double sum = 0;

	for (size_t set = 0; set < work->config->sets; set++)
		sum += rest_of(work, set).value * work->out->factors[set];
	for (size_t row = 0; row < work->rows; row++) {
		describe_row(work, row, student);
		sum += work->out->rows[row].sum;
	}
	for (size_t row = 0; row < work->rows && sum > 0; row++)
		work->out->rows[row].share = work->out->rows[row].sum / sum;
}

static int variation_check(const struct work *work, struct error *err)
{
	for (size_t set = 0; set < work->config->sets; set++) {
		if (!(work->out->totals[set].samples > 0 && work->out->totals[set].value > 0))
			return error_set(err, EINVAL, "set %zu has no samples", set + 1);
		if (work->config->norm == SIGNIFICANCE_TIME && !(work->config->seconds[set] > 0))
			return error_set(err, EINVAL, "set %zu has no duration", set + 1);
	}
	return 0;
}

static int variation_run(struct work *work, struct error *err)
{
	int r;

	add_totals(work);
	r = variation_check(work, err);
	if (r < 0)
		return r;
	for (size_t row = 0; row < work->rows; row++) {
		work->out->rows[row].in_total = true;
		for (size_t set = 0; set < work->config->sets; set++)
			work->out->rows[row].samples += cell(work, row, set)->samples;
	}
	make_factors(work);
	make_trials(work);
	test_rows(work);
	if (work->config->norm == SIGNIFICANCE_REST) {
		leave_out(work, samples_in_total(work));
		make_factors(work);
	}
	if (work->config->null == SIGNIFICANCE_OTHERS && grant_background(work) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	correct(work);
	variation_describe(work);
	return 0;
}

int significance_find(struct significance *ret, const struct significance_config *config,
		      const struct significance_cell *cells, size_t rows, struct error *err)
{
	struct work work = {.config = config, .cells = cells, .rows = rows, .out = ret};
	int r = -ENOMEM;

	if (config->sets < 2)
		return error_set(err, EINVAL, "a comparison needs more than one set");
	ret->rows = calloc(rows + 1, sizeof(*ret->rows));
	ret->values = calloc(rows + 1, config->sets * sizeof(*ret->values));
	ret->totals = calloc(config->sets, sizeof(*ret->totals));
	ret->factors = calloc(config->sets, sizeof(*ret->factors));
	work.trials = calloc(config->sets, sizeof(*work.trials));
	work.order = calloc(rows + 1, sizeof(*work.order));
	if (ret->rows != NULL && ret->values != NULL && ret->totals != NULL &&
	    ret->factors != NULL && work.trials != NULL && work.order != NULL)
		r = variation_run(&work, err);
	else
		error_set(err, ENOMEM, ERROR_NO_MEMORY);
	free(work.trials);
	free(work.order);
	return r;
}

void significance_deinit(struct significance *significance)
{
	free(significance->rows);
	free(significance->values);
	free(significance->totals);
	free(significance->factors);
	*significance = (struct significance){0};
}
