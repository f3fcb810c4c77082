/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order in which a linker places procedures, from their executions and calls: callers before
 * their hottest callees, so that code that runs together shares pages and cache lines.
 *
 * Algorithm: call-chain clustering, C3 (Ottoni, Maher: Optimizing Function Placement for
 * Large-Scale Data-Center Applications, CGO 2017).
 */
#ifndef DCPI_CALL_ORDER_H
#define DCPI_CALL_ORDER_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct call_order_procedure - a procedure to be placed
 * @bytes:  its size, > 0
 * @weight: instructions executed in it
 */
struct call_order_procedure {
	uint64_t bytes;
	double weight;
};

/** struct call_order_call - @count calls of procedure @callee by procedure @caller, both indices */
struct call_order_call {
	uint32_t caller;
	uint32_t callee;
	double count;
};

/* Clusters do not grow beyond a page: the first pages of the code are then the hottest ones. */
#define CALL_ORDER_CLUSTER_BYTES 4096

/**
 * call_order_find() - order procedures
 * @calls: may name a pair more than once; sorted by this function
 * @ret:   out: @count indices, in order of placement
 *
 * The result depends on the arguments only: ties are resolved by index. O(n log n) for n procedures
 * and calls.
 *
 * Return: 0 or -ENOMEM.
 */
int call_order_find(uint32_t *ret, const struct call_order_procedure *procedures, size_t count,
		    struct call_order_call *calls, size_t call_count);

#endif
