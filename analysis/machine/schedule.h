/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Time that instructions spend at the head of the issue queue without dynamic stalls (M_i of DCPI
 * section 6.1.3). Each static stall is attributed to a reason and to the instruction that causes it
 * (section 6.3).
 */
#ifndef DCPI_SCHEDULE_H
#define DCPI_SCHEDULE_H

#include "analysis/graph/cfg.h"
#include "analysis/machine/machine_model.h"

struct error;

/** enum stall_kind - reason for a static stall, from the code alone; names as in Figure 4. */
enum stall_kind {
	STALL_SLOTTING, /* No issue slot next to the previous instructions, or fetched too late. */
	STALL_RA_DEPENDENCY, /* Its first operand is not ready. */
	STALL_RB_DEPENDENCY, /* Its second operand is not ready; address registers. */
	STALL_RC_DEPENDENCY, /* Third operand, flags, or the register that it writes. */
	STALL_FU_DEPENDENCY, /* The unit is busy. */
	STALL_LATENCY, /* Out of order: the previous one has a long latency, and others wait. */
	STALL_KINDS,
};

/** stall_kind_name() - return "Slotting", "Ra dependency", ... */
const char *stall_kind_name(enum stall_kind kind);
/** stall_kind_letter() - return the letter that marks bubbles: 's', 'a', 'b', 'c', 'u', 'l'. */
char stall_kind_letter(enum stall_kind kind);

/** struct static_stall - @cycles per execution; @from: causing instruction, or UINT32_MAX. */
struct static_stall {
	enum stall_kind kind;
	double cycles;
	uint32_t from; /* instruction of the procedure */
};

#define SCHEDULE_STALLS_MAX 4

/**
 * struct schedule_insn - schedule of an instruction
 * @min_cycles:  M_i; 0 if it issues together with the previous one. Out of order: its share of the
 *               block's bound. As an average over edges into the block, it need not be a whole
 *               number
 * @late_change: additional cycles (may be negative) if control came from a mispredicted branch,
 *               where that is possible: the pipeline is then empty, and instructions issue in other
 *               pairs. Out of order: 0
 * @issues_with_previous: dual issue, for the most frequent edge into the block
 * @depends_on:  the earlier instruction of the block whose latency or unit determines M_i, or
 *               UINT32_MAX. The estimator must divide sums of samples after that instruction by
 *               sums of M (DCPI's fourth challenge)
 * @stalls:      @stall_count stalls, in no order. They are part of M_i; the rest is the time for
 *               issuing. Lost issue slots count: where two instructions can issue per cycle, one
 *               that cannot issue with the previous one has a slotting stall of half a cycle
 *               (Figure 2's bubbles)
 */
struct schedule_insn {
	double min_cycles;
	double late_change;
	bool issues_with_previous;
	uint32_t depends_on;
	uint8_t stall_count;
	struct static_stall stalls[SCHEDULE_STALLS_MAX];
};

/**
 * struct schedule - schedule of a procedure
 * @insns:        one for each instruction of the graph
 * @block_cycles: best case of each block: the sum of its M_i
 * @block_least:  lower bound of all executions: the least sum over all edges into the block, with
 *                and without misprediction. Out of order: without the dependences from one
 *                execution to the next
 */
struct schedule {
	struct schedule_insn *insns;
	double *block_cycles;
	double *block_least;
};

/**
 * schedule_create() - schedule all blocks of a procedure
 * @edge_weights: relative frequency of each edge, as the weight of edges into a block; NULL:
 *                unknown (back edges of loops then count more than entries)
 * @ret:          out; freed by schedule_deinit()
 *
 * M_i is the number of cycles between the issue of an instruction and of the previous one, also
 * across blocks.
 *
 * In order: each block is scheduled after each of its predecessors (at most the eight most
 * frequent), including loop-carried dependences, which the paper ignores (Figure 7's first load).
 * After calls the pipeline is empty. O(instructions x predecessors).
 *
 * Out of order: see throughput.h.
 *
 * Return: 0 or -ENOMEM.
 */
int schedule_create(struct schedule *ret, const struct machine_model *model, const struct cfg *cfg,
		    const double *edge_weights);

/**
 * schedule_create_alone() - schedule as in the paper: each block separately, with an empty pipeline
 * at its beginning
 */
int schedule_create_alone(struct schedule *ret, const struct machine_model *model,
			  const struct cfg *cfg);

void schedule_deinit(struct schedule *schedule);

#endif
