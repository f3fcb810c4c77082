/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A compact summary of the data flow of LIVENESS_NO_RESULT through a procedure. It is evaluated
 * repeatedly, until all procedures of an image agree. Internal to reg_summary.c.
 */
#ifndef DCPI_INSTRUMENT_REG_SUMMARY_FLOW_H
#define DCPI_INSTRUMENT_REG_SUMMARY_FLOW_H

#include "instrument/codegen/liveness.h"

#define REG_SUMMARY_FLOW_NO_CALL UINT32_MAX

/**
 * struct reg_summary_item - consecutive instructions of a block, up to and including a call
 * @reads: registers that they read before writing them (as in liveness_effect())
 * @kills: registers that they certainly write
 * @call:  number of the call in the control-flow graph; REG_SUMMARY_FLOW_NO_CALL: the block ends
 */
struct reg_summary_item {
	uint32_t reads;
	uint32_t kills;
	uint32_t call;
};

/**
 * struct reg_summary_flow - zero-initialised is empty; freed by reg_summary_flow_deinit()
 * @items:  block b has the items from @first[b] to @first[b + 1]
 * @begins: for each block: live set at its start, as far as it is known
 * @repeats:  for each block: an edge leads to it from itself or from a later block
 * @writes: registers that the procedure itself may write
 */
struct reg_summary_flow {
	const struct cfg *cfg;
	struct reg_summary_item *items;
	uint32_t *first;
	uint32_t *begins;
	bool *repeats;
	uint16_t writes;
};

/**
 * struct reg_summary_ends - registers that are read where control leaves the procedure
 * @uses:   for each call of the control-flow graph, and each jump out of the procedure
 * @ends:   for each of them: registers that are dead after its return; NULL: none
 * @live_after: registers read after the procedure's returns
 */
struct reg_summary_ends {
	const uint16_t *uses;
	const uint16_t *ends;
	uint16_t live_after;
};

/**
 * reg_summary_flow_make() - summarise a procedure. @cfg: has no missing edges; must outlive @ret.
 * Return: 0 or -ENOMEM.
 */
int reg_summary_flow_make(struct reg_summary_flow *ret, const struct cfg *cfg);

void reg_summary_flow_deinit(struct reg_summary_flow *flow);

/**
 * reg_summary_flow_solve() - compute @begins, starting from their current values, and only add to
 * them
 * @grown: set to true if a live set has grown; may be NULL
 *
 * Return: the live set at the procedure's entries.
 */
uint16_t reg_summary_flow_solve(struct reg_summary_flow *flow, const struct reg_summary_ends *ends,
				bool *grown);

/** reg_summary_flow_begin() - return the live set at a block's start, as far as it is known */
uint16_t reg_summary_flow_begin(const struct reg_summary_flow *flow, uint32_t block);

/** reg_summary_flow_reads() - return the registers that the entry's first instructions read, up to
 * a branch or call */
uint16_t reg_summary_flow_reads(const struct reg_summary_flow *flow);

/** reg_summary_flow_reset() - make all sets of @begins empty. */
void reg_summary_flow_reset(struct reg_summary_flow *flow);

/** reg_summary_flow_visit() - visit all calls that return, with the live set after them. To be
 * called after reg_summary_flow_solve(). */
void reg_summary_flow_visit(const struct reg_summary_flow *flow,
			    const struct reg_summary_ends *ends,
			    void (*visit)(void *context, uint32_t call, uint16_t live),
			    void *context);

/**
 * reg_summary_flow_outgoing() - return the registers that an instruction has as its result although
 * no code is known to read them. To be called after reg_summary_flow_solve()
 *
 * Compilers emit no instructions without a use. The value is therefore meant for another procedure:
 * for the caller, which expects its value to be restored, or for a callee.
 */
uint16_t reg_summary_flow_outgoing(const struct reg_summary_flow *flow,
				   const struct reg_summary_ends *ends);

#endif
