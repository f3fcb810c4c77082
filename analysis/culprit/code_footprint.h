/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code in use, and how much of it an I-cache can hold: an access hits if less other code than the
 * cache's capacity was executed since the previous access to the same code.
 *
 * The time that code stays in the cache follows Che, Tung and Wang, "Hierarchical Web Caching
 * Systems" (2002). In an LRU cache of C bytes, code stays for the time in which C bytes of
 * different code are executed. Code that is executed f times per unit of time is among them with
 * the probability 1 - exp(-f t). This assumes independent executions. Real programs miss less often
 * because they have phases. They miss more often in caches of low associativity and in loops that
 * barely exceed the cache. Users that need bounds must allow for both.
 */
#ifndef DCPI_CODE_FOOTPRINT_H
#define DCPI_CODE_FOOTPRINT_H

#include "analysis/frequency/frequency.h"

/* Number of frequency classes per power of two. */
#define CODE_FOOTPRINT_STEPS 2
#define CODE_FOOTPRINT_BINS 256

/**
 * struct code_footprint - code of an image; empty if zero-initialised
 * @bytes: bytes of code, by frequency
 * @residency:  time that code stays in the cache, in units of 1 / F; INFINITY: always. Set by
 *         code_footprint_settle()
 */
struct code_footprint {
	double bytes[CODE_FOOTPRINT_BINS];
	double residency;
};

/** code_footprint_add() - add a procedure's code. */
void code_footprint_add(struct code_footprint *footprint, const struct cfg *cfg,
			const struct frequency *frequency);

/**
 * code_footprint_settle() - compute the time that code stays in the cache
 * @bytes: capacity of the cache
 */
void code_footprint_settle(struct code_footprint *footprint, double bytes);

/**
 * code_footprint_miss_share() - return the share of executions whose code has left the cache
 * @frequency: of the code, in the unit of struct frequency_estimate
 */
double code_footprint_miss_share(const struct code_footprint *footprint, double frequency);

#endif
