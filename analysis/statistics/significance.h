/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Variation between sets of samples (DCPI section 3.3, figure 3), and a test of the hypothesis that
 * it is only sampling noise.
 *
 * Rows are procedures or other units; a cell is the number of samples of a row in a set. A norm
 * makes cells comparable, and the paper's statistics are computed for each row from normalised
 * cells, in samples of an average set.
 *
 * The test: if a row does not vary and samples are independent, its count in set k is Poisson or,
 * as a share of totals, binomial. The mean is in proportion to the exposure e_k of the set. Then
 * the index of dispersion
 *
 *     X2 = sum over k of (x_k - rate e_k)^2 / (rate e_k (1 - share))
 *
 * has a chi-square distribution with one degree of freedom less than there are sets; share is 0
 * except for norms by total. Sampling periods with little randomness spread counts less than
 * Poisson: the test then finds too little, never too much. If periods are redrawn occasionally
 * rather than for each sample, all counts of a set deviate together, by less than the window of
 * periods; norms by total remove this deviation.
 *
 * Many rows are tested at once, so probabilities are corrected by the method of Benjamini and
 * Hochberg. Rows with too few samples for the chi-square approximation are not tested and not
 * counted. Leaving them out is legitimate because their number of samples is independent of their
 * variation.
 *
 * With SIGNIFICANCE_OTHERS a row must also vary more than the others: the median of the rows' own
 * variation is the background, modelled as that of a negative binomial.
 */
#ifndef DCPI_SIGNIFICANCE_H
#define DCPI_SIGNIFICANCE_H

#include <stdbool.h>
#include <stddef.h>

struct error;

/* Least average number of samples per set for a row to be tested. */
#define SIGNIFICANCE_SAMPLES_MIN 5

/** enum significance_norm - normalisation that makes cells of different sets comparable. */
enum significance_norm {
	SIGNIFICANCE_COUNTS, /* none: each set is the same work */
	SIGNIFICANCE_TIME,   /* duration of the sets */
	SIGNIFICANCE_TOTAL,  /* the sets' totals: rows are shares */
	/*
	 * The total of the rows that do not vary. If one row varies, the shares of all others
	 * change. So the row that varies most is removed from the total, and all rows are tested
	 * again. This is repeated while a row in the total varies significantly, by Holm's
	 * correction, and at least a tenth of the samples remain.
	 */
	SIGNIFICANCE_REST,
};

/** enum significance_null - variation that a row must exceed. */
enum significance_null {
	SIGNIFICANCE_SAMPLING, /* sampling noise of a row that does not vary */
	SIGNIFICANCE_OTHERS,   /* variation of the median row */
};

/**
 * struct significance_cell - a row's samples in a set
 * @samples: as taken
 * @value:   number of samples that they represent, converted to a common period
 */
struct significance_cell {
	double samples;
	double value;
};

/**
 * struct significance_config - parameters of a comparison
 * @sets:    number of sets, >= 2
 * @seconds: of each set, > 0; used with SIGNIFICANCE_TIME
 * @rest:    of each set, samples in no row, which still belong to the totals; or NULL
 * @level:   of significance, for example 0.05
 */
struct significance_config {
	size_t sets;
	const double *seconds;
	const struct significance_cell *rest;
	enum significance_norm norm;
	enum significance_null null;
	double level;
};

/**
 * struct significance_row - statistics of a row, of normalised cells
 * @present:      number of sets in which it has samples
 * @samples:      as taken, in all sets
 * @sum, @mean, @min, @max: over all sets, including sets without samples
 * @std_dev:      divided by the number of sets minus one
 * @least, @most: first set with @min and with @max
 * @range:        (max - min) / sum
 * @share:        sum divided by the sum of all samples
 * @half:         the 95% confidence interval of the mean is @mean +- @half (Student's t, from the
 *                differences between sets)
 * @in_total:     it counts in the total that cells are normalised by
 * @tested:       it has enough samples; otherwise the members below are 0, @p and @q are 1
 * @dispersion:   X2 divided by its degrees of freedom: 1 for sampling noise
 * @p:            probability of this dispersion in a row that does not vary
 * @q:            @p corrected: expected share of errors among the rows with this @q or less
 * @significant:  @q <= level
 * @spread, @spread_low, @spread_high: standard deviation of the sampled quantity relative to its
 *                mean, without sampling noise; and its 95% interval under a normal distribution
 */
struct significance_row {
	size_t present;
	double samples;
	double sum;
	double mean;
	double std_dev;
	double min;
	double max;
	size_t least;
	size_t most;
	double range;
	double share;
	double half;
	bool in_total;
	bool tested;
	double dispersion;
	double p;
	double q;
	bool significant;
	double spread;
	double spread_low;
	double spread_high;
};

/**
 * struct significance - result; freed by significance_deinit()
 * @rows:        one for each row of cells
 * @values:      normalised cells, by row and set
 * @totals:      of the sets, not normalised
 * @factors:     multiplier of each set's cells
 * @tested:      number of tested rows
 * @significant: number of significant rows
 * @removed:     number of rows removed from the norm's total
 * @background:  with SIGNIFICANCE_OTHERS, the median row's spread
 */
struct significance {
	struct significance_row *rows;
	double *values;
	struct significance_cell *totals;
	double *factors;
	size_t tested;
	size_t significant;
	size_t removed;
	double background;
};

/**
 * significance_find() - compare sets
 * @ret:   out: zero-initialised; freed by significance_deinit()
 * @cells: by row and set, @rows * config->sets of them
 *
 * Return: 0; -EINVAL for less than two sets, or a set without samples or (SIGNIFICANCE_TIME) time;
 * -ENOMEM.
 */
int significance_find(struct significance *ret, const struct significance_config *config,
		      const struct significance_cell *cells, size_t rows, struct error *err);

void significance_deinit(struct significance *significance);

#endif
