/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much slower or faster than believed procedures run, by who calls whom.
 *
 * On an out-of-order machine a procedure's own samples tell its frequencies up to a
 * factor, which is uncertain; but all of them up to the same one. Calls compare the
 * factors of procedures: a procedure is executed as often as it is called. Unknown are
 * all factors of an image; each is drawn to 1 by how certain the procedure is of itself,
 * and calls tie them together. Executions that no known call explains are possible (calls
 * by pointer, other images), so much more of them than calls is not as bad as it is far
 * off; calls without executions are not possible.
 */
#ifndef DCPI_CALL_NETWORK_H
#define DCPI_CALL_NETWORK_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct call_network_procedure - what a procedure says of itself
 * @executions: by its own estimate; of recursive ones those from outside; 0: not known
 * @scale_spread: how uncertain its factor is: standard deviation of the logarithm
 * @entry_spread: how uncertain @executions are beside the factor
 * @factor: out: what its estimates are to be multiplied by
 */
struct call_network_procedure {
	double executions;
	double all_executions;
	double scale_spread;
	double entry_spread;
	double factor;
};

/**
 * struct call_network_call - a place that calls
 * @caller, @callee: procedures, not the same
 * @calls:  made there, by the caller's estimate, > 0
 * @spread: how uncertain that is beside the caller's factor
 */
struct call_network_call {
	uint32_t caller;
	uint32_t callee;
	double calls;
	double spread;
};

/**
 * struct call_network_pair - the same calls, counted on both sides
 * @caller, @callee: procedures, not the same
 * @ratio:  what the callee's estimate says, divided by what the caller's says
 * @spread: how uncertain its logarithm is beside the factors of both
 * @part:   the share of the callee's executions that these are; 0: not known. Pairs of one
 *          callee are compared as a sum, too: an error in one's part is the others'.
 * @site_spread: how uncertain the caller's estimate is beside its factor
 */
struct call_network_pair {
	uint32_t caller;
	uint32_t callee;
	double ratio;
	double spread;
	double part;
	double site_spread;
};

/**
 * struct call_network - all there is to compare
 * @calls, @pairs: in any order; sorted by callee
 */
struct call_network {
	struct call_network_procedure *procedures;
	size_t procedure_count;
	struct call_network_call *calls;
	size_t call_count;
	struct call_network_pair *pairs;
	size_t pair_count;
};

/** call_network_solve() - find all factors. Return: 0 or -ENOMEM. */
int call_network_solve(struct call_network *network);

#endif
