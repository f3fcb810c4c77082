/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a procedure's code passes on the registers of LIVENESS_LOOSE, in little room: it is asked for
 * time and again, until all procedures of an image agree. Internal to convention.c.
 */
#ifndef DCPI_INSTRUMENT_CONVENTION_FLOW_H
#define DCPI_INSTRUMENT_CONVENTION_FLOW_H

#include "instrument/code/liveness.h"

#define CONVENTION_FLOW_NO_CALL UINT32_MAX

/**
 * struct convention_item - instructions of a block, one after the other, and the call behind them
 * @looks: at these registers, before it writes them (as of liveness_effect())
 * @kills: it writes these for certain
 * @call:  of the graph's; CONVENTION_FLOW_NO_CALL: the block's end
 */
struct convention_item {
	uint32_t looks;
	uint32_t kills;
	uint32_t call;
};

/**
 * struct convention_flow - zero-initialised is empty; freed by convention_flow_deinit()
 * @items:  of block b those from @first[b] to @first[b + 1]
 * @begins: likewise what is live where each block begins, as far as it is known
 * @again:  of each block: one that is not in front of it leads to it
 * @writes: registers that the procedure itself may change
 */
struct convention_flow {
	const struct cfg *cfg;
	struct convention_item *items;
	uint32_t *first;
	uint32_t *begins;
	bool *again;
	uint16_t writes;
};

/**
 * struct convention_ends - what is looked at where control leaves the procedure
 * @uses:   for each of the graph's calls, and jumps out of it
 * @ends:   likewise, what has no use any more once it comes back; NULL: nothing
 * @behind: its returns
 */
struct convention_ends {
	const uint16_t *uses;
	const uint16_t *ends;
	uint16_t behind;
};

/** convention_flow_make() - @cfg: without missing edges; kept. Return: 0 or -ENOMEM. */
int convention_flow_make(struct convention_flow *ret, const struct cfg *cfg);

void convention_flow_deinit(struct convention_flow *flow);

/**
 * convention_flow_solve() - find @begins, which only grow
 * @grown: set if any did; may be NULL
 *
 * Return: what is live where the procedure begins.
 */
uint16_t convention_flow_solve(struct convention_flow *flow, const struct convention_ends *ends,
			       bool *grown);

/** convention_flow_begin() - what is live where a block begins, as far as it is known */
uint16_t convention_flow_begin(const struct convention_flow *flow, uint32_t block);

/** convention_flow_looks() - at registers, by the first instructions, up to a branch or call */
uint16_t convention_flow_looks(const struct convention_flow *flow);

/** convention_flow_forget() - @begins are empty again. */
void convention_flow_forget(struct convention_flow *flow);

/** convention_flow_visit() - once it is solved: all calls that come back, with what is live there.
 */
void convention_flow_visit(const struct convention_flow *flow, const struct convention_ends *ends,
			   void (*visit)(void *context, uint32_t call, uint16_t live),
			   void *context);

/**
 * convention_flow_given() - likewise: registers that an instruction has as its result though nobody
 * is known to look at it
 *
 * Compilers make none such. So who wrote it means it for somebody: for the procedure's caller,
 * who wants it back as it was, or for whom it calls.
 */
uint16_t convention_flow_given(const struct convention_flow *flow,
			       const struct convention_ends *ends);

#endif
