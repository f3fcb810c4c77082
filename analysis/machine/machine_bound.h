/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of an out-of-order machine's throughput bounds: operations per cycle in the front end,
 * ports that execute them, and latencies.
 */
#ifndef DCPI_MACHINE_BOUND_H
#define DCPI_MACHINE_BOUND_H

#include "analysis/insn/insn.h"

#define BOUND_PORTS_MAX 16

/**
 * struct bound_cost - cost of an instruction, or of its memory access
 * @front:   operations that pass the front end
 * @back:    operations that execute, each on one of @ports
 * @ports:   mask
 * @busy:    cycles for which an operation occupies its port; 1: pipelined
 * @latency: cycles until the result can be used
 */
struct bound_cost {
	uint8_t front;
	uint8_t back;
	uint16_t ports;
	uint8_t busy;
	uint8_t latency;
};

/** struct bound_exception - an instruction whose cost differs from that of its class. */
struct bound_exception {
	uint32_t opcode;
	bool registers_only; /* only without a memory operand */
	struct bound_cost cost;
};

/* enum bound_more - costs after those of classes */
enum bound_more {
	BOUND_LOAD = INSN_CLASSES, /* Added to the class if it reads memory and does more. */
	BOUND_STORE,		   /* Added if it writes memory. */
	BOUND_NOTHING,		   /* No execution is needed: results that are known to be 0. */
	BOUND_COSTS,
};

/**
 * struct machine_bound - an out-of-order machine
 * @base:       model that supplies all costs that are zero here, and further exceptions; NULL: none
 * @width:      operations that pass the front end per cycle
 * @costs:      by enum insn_class, without memory accesses, then by enum bound_more
 * @exceptions: @exception_count exceptions; the first match counts
 * @fuses:      compare-and-branch pairs pass as one operation
 * @forward_latency: latency of store-to-load forwarding
 */
struct machine_bound {
	const struct machine_bound *base;
	unsigned int width;
	struct bound_cost costs[BOUND_COSTS];
	const struct bound_exception *exceptions;
	size_t exception_count;
	bool fuses;
	unsigned int forward_latency;
};

#endif
