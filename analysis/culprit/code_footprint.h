/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much code is in use, and so what an I-cache can hold of it: code that comes again before
 * as much other code as the cache holds has come between does not miss.
 *
 * How long code stays is that of Che, Tung and Wang, "Hierarchical Web Caching Systems"
 * (2002): in a cache of C bytes that forgets what was used least recently, code stays for
 * the time in which C bytes of different code are executed, where code executed f times in a
 * unit of time is among them with a probability of 1 - exp(-f t). That takes executions as
 * independent of each other. Phases make real programs miss less; loops that just don't fit,
 * and caches of few ways, more, which what asks for bounds has to allow for.
 */
#ifndef DCPI_CODE_FOOTPRINT_H
#define DCPI_CODE_FOOTPRINT_H

#include "analysis/frequency/frequency.h"

/* Frequencies are told apart by this many steps to a power of two. */
#define CODE_FOOTPRINT_STEPS 2
#define CODE_FOOTPRINT_BINS 256

/**
 * struct code_footprint - of an image; zero-initialised is empty
 * @bytes: of code, by how often it is executed
 * @stay:  how long code stays in the cache, in units of 1 / F; INFINITY: for ever. Set
 *         by code_footprint_settle()
 */
struct code_footprint {
	double bytes[CODE_FOOTPRINT_BINS];
	double stay;
};

/** code_footprint_add() - add a procedure's code. */
void code_footprint_add(struct code_footprint *footprint, const struct cfg *cfg,
			const struct frequency *frequency);

/**
 * code_footprint_settle() - find how long code stays
 * @bytes: that the cache holds
 */
void code_footprint_settle(struct code_footprint *footprint, double bytes);

/**
 * code_footprint_miss_share() - the share of executions of code that is no longer in the cache
 * @frequency: of the code, as struct frequency_estimate has it
 */
double code_footprint_miss_share(const struct code_footprint *footprint, double frequency);

#endif
