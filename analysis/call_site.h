/* SPDX-License-Identifier: GPL-2.0-only */
/* A call in the procedures of a program, for program_calls.c and stack_paths.c. */
#ifndef DCPI_CALL_SITE_H
#define DCPI_CALL_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/place_list.h"

/**
 * struct call_site - a call, or a system call
 * @at:     the call, @return_address: its return address
 * @caller: number of the procedure in the network
 * @target: for a direct call: its target; offset 0: indirect, or a system call
 * @stub:   @target is a stub of the linkage table, with an unknown target
 * @callee: number of the procedure that begins at @target; UINT32_MAX: none, or not known yet
 * @calls:  by the caller's estimate, > 0
 * @spread: standard deviation of the logarithm of @calls, apart from the caller's factor
 */
struct call_site {
	struct place return_address;
	struct place at;
	struct place target;
	uint32_t caller;
	uint32_t callee;
	bool stub;
	double calls;
	double spread;
};

#endif
