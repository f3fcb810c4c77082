/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Estimate by which factor each procedure runs slower or faster than modelled, from calls between
 * procedures.
 *
 * On an out-of-order machine, a procedure's own samples determine its frequencies only up to an
 * uncertain factor, which all frequencies of the procedure share. Calls relate the factors of
 * procedures to each other: a procedure is executed as often as it is called. The unknowns are the
 * factors of all procedures of an image. A prior pulls each factor towards 1 according to the
 * certainty of the procedure's own estimate, and calls constrain the factors relative to each
 * other.
 *
 * Executions that no known call explains are possible (calls by pointer, calls from other images).
 * An excess of executions over calls therefore costs only the logarithm of its size. Calls without
 * executions are impossible, so an excess of calls costs its square.
 *
 * The clock of a loop measures executions without a model (loop_clock.h). The factor of such a
 * procedure is 1. Its calls determine the factors of other procedures, which do not change its own.
 */
#ifndef DCPI_CALL_NETWORK_H
#define DCPI_CALL_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct call_network_procedure - own estimate of a procedure
 * @executions:   by its own estimate; for a recursive procedure, executions entered from outside;
 *                0: unknown
 * @scale_spread: standard deviation of the logarithm of the procedure's factor
 * @measured:     executions were measured independently of the model: the factor is 1
 * @entry_spread: standard deviation of the logarithm of @executions, apart from the factor
 * @factor:       out: factor by which the procedure's estimates are to be multiplied
 */
struct call_network_procedure {
	double executions;
	double all_executions;
	double scale_spread;
	bool measured;
	double entry_spread;
	double factor;
};

/**
 * struct call_network_call - a call site
 * @caller, @callee: indices of two different procedures
 * @calls:  calls made at this site, by the caller's estimate, > 0
 * @spread: standard deviation of the logarithm of @calls, apart from the caller's factor
 */
struct call_network_call {
	uint32_t caller;
	uint32_t callee;
	double calls;
	double spread;
};

/**
 * struct call_network_pair - the same calls, counted in the caller and in the callee
 * @caller, @callee: indices of two different procedures
 * @ratio:       the callee's estimate of the calls divided by the caller's estimate
 * @spread:      standard deviation of the logarithm of @ratio, apart from both procedures' factors
 * @part:        share of the callee's executions that these calls make up; 0: unknown. The pairs of
 *               one callee are also compared as a sum, because an excess in one pair's share is
 *               missing from the shares of the other pairs.
 * @certain:     no other procedure can have taken the callee's place
 * @site_spread: standard deviation of the logarithm of the caller's estimate, apart from its factor
 */
struct call_network_pair {
	uint32_t caller;
	uint32_t callee;
	double ratio;
	double spread;
	double part;
	bool certain;
	double site_spread;
};

/**
 * struct call_network_target - one of the callees of a call, which shares its executions with
 * others
 * @site:        number of the call
 * @caller, @callee: indices of two different procedures
 * @part:        the callee's estimate of its executions that the call made, divided by the caller's
 *               estimate of the call's executions: the sum over all callees is 1, apart from
 * factors
 * @spread:      standard deviation of the logarithm of the callee's estimate, apart from its factor
 * @site_spread: the same of the caller's estimate; equal for all callees of the call
 */
struct call_network_target {
	size_t site;
	uint32_t caller;
	uint32_t callee;
	double part;
	double spread;
	double site_spread;
};

/**
 * struct call_network - procedures and the calls that relate them
 * @calls, @pairs: in any order on input; call_network_solve() sorts them by callee
 * @targets:       sorted by site
 */
struct call_network {
	struct call_network_procedure *procedures;
	size_t procedure_count;
	struct call_network_call *calls;
	size_t call_count;
	struct call_network_pair *pairs;
	size_t pair_count;
	const struct call_network_target *targets;
	size_t target_count;
};

/** call_network_solve() - compute the factors of all procedures. Return: 0 or -ENOMEM. */
int call_network_solve(struct call_network *network);

#endif
