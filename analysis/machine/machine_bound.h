/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What bounds an out-of-order machine's throughput, as tables: how many operations
 * pass the front end each cycle, which ports execute them, and how long they take.
 */
#ifndef DCPI_MACHINE_BOUND_H
#define DCPI_MACHINE_BOUND_H

#include "analysis/insn/insn.h"

#define BOUND_PORTS_MAX 16

/**
 * struct bound_cost - what an instruction, or its access to memory, takes
 * @front:   operations that pass the front end
 * @back:    operations that execute, each on one of @ports
 * @ports:   mask
 * @busy:    cycles that an operation keeps its port from others; 1: pipelined
 * @latency: until the result can be used
 */
struct bound_cost {
	uint8_t front;
	uint8_t back;
	uint16_t ports;
	uint8_t busy;
	uint8_t latency;
};

/** struct bound_exception - an instruction whose cost is not that of its class. */
struct bound_exception {
	uint32_t opcode;
	bool registers_only; /* only without a memory operand */
	struct bound_cost cost;
};

/* Costs behind those of classes. */
enum bound_more {
	BOUND_LOAD = INSN_CLASSES, /* beside the class if it reads memory and does more than that */
	BOUND_STORE,		   /* if it writes memory */
	BOUND_NOTHING,		   /* no execution is needed: results that are known to be 0 */
	BOUND_COSTS,
};

/**
 * struct machine_bound - an out-of-order machine
 * @base:     has the costs that are all zero here, and exceptions behind these; NULL: there
 *            are none
 * @width:    operations that pass the front end in a cycle
 * @costs:    by enum insn_class, without accesses to memory, and of what else there is
 * @exceptions: @exception_count of them, the first that matches counts
 * @fuses:    compare-and-branch pairs pass as one operation
 * @forward_latency: of a load that gets its value from a store under way
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
