/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What varies between sets of samples (DCPI section 3.3, figure 3), and whether more
 * than sampling explains.
 *
 * Rows are procedures, or whatever; a cell is how often a row was sampled in a set.
 * Cells are made comparable by a norm, and each row gets the paper's statistics. They
 * are of normalised cells, in samples of an average set.
 *
 * The test. If a row does not vary, and samples fall independently of one another, its
 * count in set k is Poisson with a mean in proportion to the set's exposure e_k, or, as
 * a share of totals, binomial. Then the index of dispersion
 *
 *	X2 = sum over k of (x_k - rate e_k)^2 / (rate e_k (1 - share))
 *
 * is chi-square with one degree of freedom less than there are sets; share is 0 but for
 * norms by total. Sampling with periods that are hardly random spreads counts less than
 * Poisson: such a test finds too little, never too much. Where periods are drawn anew
 * at times rather than at each sample all counts of a set move together, by less than
 * the window of periods; norms by total take that out.
 *
 * Many rows are tested at once: probabilities are corrected for that as Benjamini and
 * Hochberg have it. Rows with too few samples for chi-square to hold are not tested,
 * and not counted; that their number of samples says nothing of how these are spread
 * makes leaving them out legitimate.
 *
 * With VARIATION_OTHERS a row must vary more than the others do, too: the median of the
 * rows' own variation is taken for granted, as a negative binomial's.
 */
#ifndef DCPI_VARIATION_H
#define DCPI_VARIATION_H

#include <stdbool.h>
#include <stddef.h>

struct error;

/* Samples a set, on average, without which a row is not tested. */
#define VARIATION_SAMPLES_MIN 5

/** enum variation_norm - what makes cells of different sets comparable. */
enum variation_norm {
	VARIATION_COUNTS, /* nothing: each set is the same work */
	VARIATION_TIME,	  /* how long the sets took */
	VARIATION_TOTAL,  /* the sets' totals: rows are shares */
	/*
	 * The total of the rows that don't vary. Of shares of a total, all change if one
	 * row does; so the row that varies most is taken out of the total, and all are
	 * tested again, as long as one is left in it that does, with Holm's correction,
	 * and a tenth of the samples are.
	 */
	VARIATION_REST,
};

/** enum variation_null - what a row must vary more than. */
enum variation_null {
	VARIATION_SAMPLING, /* samples of a row that does not vary */
	VARIATION_OTHERS,   /* the median row */
};

/**
 * struct variation_cell - a row's samples in a set
 * @samples: as taken
 * @value:   what they stand for, in samples of one period
 */
struct variation_cell {
	double samples;
	double value;
};

/**
 * struct variation_config - how to compare
 * @sets:    how many, >= 2
 * @seconds: of each set, > 0; looked at with VARIATION_TIME
 * @rest:    of each set, samples in no row, which belong to the totals all the same; or NULL
 * @level:   of significance, as 0.05
 */
struct variation_config {
	size_t sets;
	const double *seconds;
	const struct variation_cell *rest;
	enum variation_norm norm;
	enum variation_null null;
	double level;
};

/**
 * struct variation_row - statistics of a row, of normalised cells
 * @present:    sets it has samples in
 * @samples:    as taken, in all sets
 * @sum, @mean, @min, @max: of all sets, those without samples included
 * @std_dev:    with one less than the number of sets
 * @least, @most: the sets of @min and @max, the first ones
 * @range:      (max - min) / sum
 * @share:      sum over that of all samples
 * @half:       the mean is known to @mean +- @half with 95% confidence (Student's t,
 *              from how the sets differ)
 * @in_total:   it counts in the total that cells are normalised by
 * @tested:     it has enough samples; else what follows is 0, @p and @q 1
 * @dispersion: X2 over its degrees of freedom: 1 is what sampling explains
 * @p:          how likely a row that does not vary is to show this dispersion
 * @q:          the same, corrected: share of errors among rows called significant
 *              with this @q or less
 * @significant: @q <= level
 * @spread, @spread_low, @spread_high: standard deviation of what was sampled, over its
 *              mean, without what sampling adds; and its 95% interval, were it normal
 */
struct variation_row {
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
 * struct variation - what came out; freed by variation_deinit()
 * @rows:        one for each row of cells
 * @values:      normalised cells, by row and set
 * @totals:      of the sets, not normalised: values
 * @factors:     by which the cells of each set were multiplied
 * @tested:      rows
 * @significant: rows
 * @removed:     rows that the norm's total leaves out
 * @background:  with VARIATION_OTHERS, the median row's spread
 */
struct variation {
	struct variation_row *rows;
	double *values;
	struct variation_cell *totals;
	double *factors;
	size_t tested;
	size_t significant;
	size_t removed;
	double background;
};

/**
 * variation_find() - compare
 * @ret:   out: zero-initialised; freed by variation_deinit()
 * @cells: by row and set, @rows * config->sets of them
 *
 * Return: 0; -EINVAL less than two sets, or a set without samples or (VARIATION_TIME)
 * time; -ENOMEM.
 */
int variation_find(struct variation *ret, const struct variation_config *config,
		   const struct variation_cell *cells, size_t rows, struct error *err);

void variation_deinit(struct variation *variation);

#endif
