/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long instructions spend at the head of the issue queue when there are no
 * dynamic stalls: M_i of DCPI section 6.1.3, and for each static stall its reason
 * and the instruction that causes it (section 6.3).
 */
#ifndef DCPI_SCHEDULE_H
#define DCPI_SCHEDULE_H

#include "analysis/graph/cfg.h"
#include "analysis/machine/machine_model.h"

struct error;

/** enum stall_kind - why an instruction must wait, by the code alone; names as in Figure 4. */
enum stall_kind {
	STALL_SLOTTING,	     /* no issue slot beside those before it, or fetched too late */
	STALL_RA_DEPENDENCY, /* its first operand is not ready */
	STALL_RB_DEPENDENCY, /* its second; address registers */
	STALL_RC_DEPENDENCY, /* third operand, flags, or the register that it writes */
	STALL_FU_DEPENDENCY, /* the unit is busy */
	STALL_LATENCY,	     /* out of order: the one before takes long, and others wait for it */
	STALL_KINDS,
};

/** stall_kind_name() - "Slotting", "Ra dependency", ... */
const char *stall_kind_name(enum stall_kind kind);
/** stall_kind_letter() - of bubbles: 's', 'a', 'b', 'c', 'u', 'l'. */
char stall_kind_letter(enum stall_kind kind);

/** struct static_stall - @cycles a stall takes each execution; @from: culprit, or UINT32_MAX. */
struct static_stall {
	enum stall_kind kind;
	double cycles;
	uint32_t from; /* instruction of the procedure */
};

#define SCHEDULE_STALLS_MAX 4

/**
 * struct schedule_insn - an instruction in its schedule
 * @min_cycles: M_i; 0 if it issues together with the one before. Out of order: its
 *              share of the block's bound. Averages over ways into the block, so need
 *              not be whole
 * @late_change: how much longer (or less) it takes if control came by a mispredicted
 *              branch, where it may: nothing is under way then, and instructions issue
 *              together by other pairs. Out of order: 0
 * @issues_with_previous: dual issue, when the block is entered as it is most often
 * @depends_on: the instruction whose latency or unit determines M_i (DCPI's fourth
 *              challenge: the sum of samples from behind it divided by the sum of M is
 *              what the estimator must use), or UINT32_MAX. It is before this one in
 *              the same block
 * @stalls:     @stall_count of them, in no order. They are part of M_i: the rest of it
 *              is what issuing takes. Lost issue slots count: where two instructions
 *              could issue in a cycle, the one that would not go beside the one before
 *              it has a slotting stall of half a cycle (Figure 2's bubbles)
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
 * struct schedule - of a procedure
 * @insns:        one for each instruction of the graph
 * @block_cycles: best case of each block: the sum of its M_i
 * @block_least:  the same sum if it is entered by the way that makes it least, mispredicted
 *                or not: no execution takes less. Out of order: @block_cycles
 */
struct schedule {
	struct schedule_insn *insns;
	double *block_cycles;
	double *block_least;
};

/**
 * schedule_create() - schedule all blocks of a procedure
 * @edge_weights: relative frequency of each edge, to weigh ways into a block; NULL:
 *                not known yet (loops' back edges then count more than entries)
 * @ret:          out; freed by schedule_deinit()
 *
 * M_i is the number of cycles between the issue of an instruction and of the one before
 * it, wherever control comes from.
 *
 * In order: each block is scheduled behind each of its predecessors (the eight most
 * frequent, should there be more), loop-carried dependences included; the paper ignores
 * them (Figure 7's first load). Behind calls nothing is under way.
 * O(instructions x predecessors).
 *
 * Out of order: see throughput.h.
 *
 * Return: 0 or -ENOMEM.
 */
int schedule_create(struct schedule *ret, const struct machine_model *model, const struct cfg *cfg,
		    const double *edge_weights);

/**
 * schedule_create_alone() - the same as in the paper: each block by itself, as if
 * nothing were under way when it is entered
 */
int schedule_create_alone(struct schedule *ret, const struct machine_model *model,
			  const struct cfg *cfg);

void schedule_deinit(struct schedule *schedule);

#endif
