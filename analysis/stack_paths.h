/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls of kernel procedures, from the sampled call stacks.
 *
 * Edges are not sampled in the kernel. But a stack shows the callers of a procedure: the call that
 * a frame returns to, or the system call instruction of the program. A procedure without samples
 * between two others is passed over: it is assumed to make one call for each of its executions. The
 * shares of several callers are shares of time, and so are weak evidence of shares of calls.
 */
#ifndef DCPI_STACK_PATHS_H
#define DCPI_STACK_PATHS_H

#include "analysis/call_site.h"
#include "analysis/frequency/call_network.h"
#include "analysis/image_samples.h"
#include "analysis/place_list.h"

/**
 * struct stack_path - stacks with a procedure and the same callers
 * @procedure: its number in the network
 * @stacks:    their number
 * @callers:   return addresses, the innermost first; offset 0: none
 */
struct stack_path {
	uint32_t procedure;
	double stacks;
	struct place callers[IMAGE_STACK_CALLERS];
};

/**
 * stack_paths_add() - add the stacks with a procedure's code
 * @paths: list of struct stack_path
 *
 * Return: 0 or -ENOMEM.
 */
int stack_paths_add(struct place_list *paths, const struct image_code *code,
		    const struct image_samples *samples, const struct image_range *parts,
		    size_t count, uint32_t procedure);

/**
 * stack_paths_compare() - compare the executions of procedures with those of their callers' calls
 * @paths:    of all procedures
 * @sites:    list of struct call_site, sorted by return address
 * @network:  list of struct call_network_procedure
 * @returned: of each procedure, the sampled returns, which are better evidence
 * @pairs:    list of struct call_network_pair; out: the comparisons are added
 * @targets:  list of struct call_network_target; out: callees of calls that have several
 *
 * Return: 0 or -ENOMEM.
 */
int stack_paths_compare(const struct place_list *paths, const struct place_list *sites,
			const struct place_list *network, const double *returned,
			struct place_list *pairs, struct place_list *targets);

#endif
