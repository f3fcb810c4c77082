/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much memory an instruction accesses, and which caches can hold it, from the addresses of data
 * at samples (daemon/collect/footprint_store.h).
 *
 * The addresses are a random selection over time. Three statements follow without any assumption
 * about the order of accesses:
 *
 * - The share of accesses to lines that no sample has seen is about the number of lines seen once,
 *   divided by the samples (Good, The population frequencies of species, 1953). All other accesses
 *   are to the lines seen. If those fit a cache, only this share can miss.
 * - Two samples have the same line with a probability that is the sum of the squared shares of the
 *   lines. C lines have together at most the share sqrt(C * sum of squares) of the accesses
 *   (Cauchy-Schwarz). So a cache cannot serve more than that with any C lines.
 * - The number of lines is estimated after Chao, Estimating the population size for capture-
 *   recapture data with unequal catchability, 1987, which is a lower bound if lines are accessed
 *   with different probabilities.
 *
 * Samples select times, not executions: shares are shares of the instruction's time, which is the
 * time that a stall takes.
 */
#ifndef DCPI_DATA_FOOTPRINT_H
#define DCPI_DATA_FOOTPRINT_H

#include <stdint.h>

/**
 * struct data_extent - how many different units, lines or pages, accesses fall on
 * @seen:   units seen
 * @least, @likely: estimated number of units, and its lower bound (95%)
 * @most:   upper bound (95%), if no unit is accessed far less often than the others; INFINITY:
 *          there are too few samples
 * @unseen: upper bound of the share of accesses to units not seen (95%)
 * @even:   lower bound (95%) of 1 / sum of squared shares: the number of units, if all are accessed
 *          equally often
 */
struct data_extent {
	double seen;
	double least;
	double likely;
	double most;
	double unseen;
	double even;
};

/**
 * struct data_extent_counts - numbers that an extent is estimated from
 * @distinct: units seen, perhaps estimated
 * @kept:     units that the numbers below are about, a random selection of the units seen
 * @once, @twice: units seen once and twice
 * @compared: pairs of accesses; @equal: of these, to the same unit
 */
struct data_extent_counts {
	double distinct;
	double kept;
	double once;
	double twice;
	double compared;
	double equal;
};

/** data_extent_estimate() - estimate from the counts of @samples accesses, at least 1 */
struct data_extent data_extent_estimate(double samples, const struct data_extent_counts *counts);

/** struct data_caches - of the machine; 0: unknown. @bytes: sizes of the caches by level */
struct data_caches {
	double bytes[3];
	double line_bytes;
	double page_bytes;
};

/**
 * struct data_footprint - accesses of an instruction
 * @address:      of the instruction
 * @samples:      accesses
 * @stack_share:  share of accesses to the stack
 * @stride:       distance in bytes between consecutive accesses of most executions; 0: there is
 * none
 * @stride_share: lower bound of the share of executions with it
 * @shared:       share of accesses to lines that another thread accessed at about the same time
 * @partner:      address of its instruction, 0: not known
 * @partner_byte, @own_byte: first byte of both accesses in the line
 */
struct data_footprint {
	uint64_t address;
	double samples;
	double stack_share;
	int64_t stride;
	double stride_share;
	double shared;
	uint64_t partner;
	uint8_t partner_byte;
	uint8_t own_byte;
	struct data_extent lines;
	struct data_extent pages;
};

/**
 * data_footprint_bytes() - return the likely number of bytes in the lines that are accessed
 *
 * For a lower bound, see data_footprint_least().
 */
double data_footprint_bytes(const struct data_footprint *footprint,
			    const struct data_caches *caches);
double data_footprint_least(const struct data_footprint *footprint,
			    const struct data_caches *caches);

/** data_footprint_span() - return a lower bound of the size of the pages that are accessed */
double data_footprint_span(const struct data_footprint *footprint,
			   const struct data_caches *caches);

/**
 * data_footprint_misses() - return a lower bound of the share of time in accesses that a cache of
 * @bytes cannot serve
 *
 * 0 for streams, whose lines a processor fetches before they are accessed.
 */
double data_footprint_misses(const struct data_footprint *footprint,
			     const struct data_caches *caches, double bytes);

#endif
