/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rate of a branch over several epochs, from the gaps that probes measured in some of them.
 *
 * Epochs are independent measurements of rates that may differ: other input, other neighbours on
 * the machine, another clock frequency. A sum of gaps over all epochs would weight each epoch by
 * the duration of its probes instead of its samples. So each epoch keeps its own rate, shrunk
 * towards the mean according to its error (empirical Bayes), and epochs without a measurement get
 * the mean. The variance between epochs is DerSimonian's and Laird's moment estimate (Controlled
 * Clinical Trials 7, 1986), with a prior for few epochs.
 */
#ifndef DCPI_GAP_POOL_H
#define DCPI_GAP_POOL_H

#include <stddef.h>

/**
 * struct gap_epoch - measurements of a branch in one epoch
 * @gaps:    number of measured times from one execution to the next, > 0
 * @gap_ns:  their sum, > 0
 * @samples: samples of time in the branch's image in this epoch, scaled to a common period, >= 0
 */
struct gap_epoch {
	double gaps;
	double gap_ns;
	double samples;
};

/**
 * struct gap_pool - result over all epochs
 * @gaps, @gap_ns: @gaps / @gap_ns is a rate; multiplied by the time of all samples, it gives the
 *                 number of executions. @gap_ns is the measured time
 * @variance:      relative variance of that rate
 */
struct gap_pool {
	double gaps;
	double gap_ns;
	double variance;
};

/**
 * gap_pool_make() - pool epochs
 * @epochs: @count > 0 epochs with a measurement
 * @all:    samples of all epochs, including epochs without a measurement
 */
struct gap_pool gap_pool_make(const struct gap_epoch *epochs, size_t count, double all);

/** gap_pool_window_variance() - relative variance of a rate measured in one epoch for @gap_ns. */
double gap_pool_window_variance(double gap_ns);

#endif
