/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why instructions stalled (DCPI section 6.3): guilty until proven innocent. Each
 * possible cause is a rule (culprit_rule.h), which may rule itself out, bound its share
 * or call itself unlikely; what no cause is left for is unexplained.
 *
 * Where we differ from the paper: bounds of all causes come from how often control
 * arrives in a way that makes them possible, and not only from event samples: a loop
 * that fits the I-cache misses at most once a line each time it is entered, a branch
 * that always goes one way is predicted, a load that somebody has waited for is there.
 * Causes are doubted, by what is rare everywhere (a load from the stack that misses, a
 * return that is not predicted) and by other instructions of the procedure, which the
 * cause would have stalled as well. Those of more doubt, and those that can be guilty of
 * little, are listed only if the others can't account for the stall (15% are let go).
 */
#ifndef DCPI_CULPRIT_H
#define DCPI_CULPRIT_H

#include "analysis/culprit/code_footprint.h"
#include "analysis/culprit/code_sets.h"

/** enum culprit_cause - causes of dynamic stalls, in the order of Figure 4. */
enum culprit_cause {
	CULPRIT_ICACHE, /* I-cache miss, not ITB */
	CULPRIT_ITB,	/* ITB and I-cache miss */
	CULPRIT_DCACHE, /* load whose value is waited for missed the D-cache */
	CULPRIT_DTB,
	CULPRIT_WRITE_BUFFER,
	CULPRIT_SYNCHRONIZATION, /* barriers, atomics */
	CULPRIT_BRANCH,		 /* branch mispredict */
	CULPRIT_IMUL,		 /* integer multiplier or divider busy */
	CULPRIT_FDIV,		 /* FP divider busy */
	CULPRIT_OTHER, /* out of order: retirement behind older work; traps, system code */
	CULPRIT_CAUSES,
	CULPRIT_UNEXPLAINED = CULPRIT_CAUSES,
};

/** culprit_name() - as in Figure 4: "D-cache miss"; also "Unexplained stall". */
const char *culprit_name(enum culprit_cause cause);
/** culprit_key() - in JSON: "dcache". */
const char *culprit_key(enum culprit_cause cause);
/** culprit_letter() - of bubbles: p D d w i I m f y o, '?' */
char culprit_letter(enum culprit_cause cause);

/**
 * struct culprit - a possible cause of an instruction's dynamic stall
 * @cycles_low, @cycles_high: of each execution of the instruction, on average, this much
 *        may be due to it; 0 <= low <= high <= the stall, high > 0. Out of order
 *        low is 0: work overlaps, and the cause need not be near
 * @from: the instruction that causes it (the load that missed), UINT32_MAX: the
 *        instruction itself or none
 */
struct culprit {
	enum culprit_cause cause;
	double cycles_low;
	double cycles_high;
	uint32_t from;
};

/**
 * struct instruction_cpi - where the cycles of an instruction went
 * @cpi:      cycles at the head of the issue queue for each execution; NaN: not executed,
 *            as far as is known
 * @low, @high: what the interval of the frequency makes of it
 * @execution: cycles that issuing takes (M_i without its static stalls)
 * @static_cycles: sum of its static stalls
 * @dynamic_cycles: the rest; negative: a gain that is not explained
 * @significant: @dynamic_cycles is more than the noise of sampling and the interval of
 *            the frequency explain; stalls of more than 15% of M (out of order, where M is
 *            seldom reached: as much as M) need not be beyond the interval: then the
 *            @cycles_low of its culprits are 0
 * @first, @count: its culprits, in culprits.list, each cause once, in order of
 *            @cycles_high; none if there is no significant stall, or no explanation
 */
struct instruction_cpi {
	double cpi;
	double low;
	double high;
	double execution;
	double static_cycles;
	double dynamic_cycles;
	bool significant;
	uint32_t first;
	uint32_t count;
};

/** struct culprits - of a procedure; @insns is parallel to the graph's. */
struct culprits {
	struct instruction_cpi *insns;
	struct culprit *list;
	size_t count;
};

/**
 * struct culprit_input - what the rules look at
 * @thorough: list unlikely causes and small ones always, as the paper's tool did
 * @footprint: of the image, settled for half of the I-cache; NULL: not known
 * @sets: of the image, settled for the I-cache; NULL likewise
 */
struct culprit_input {
	bool thorough;
	const struct cfg *cfg;
	const struct machine_model *model;
	const struct schedule *schedule;
	const struct procedure_profile *profile;
	const struct frequency *frequency;
	const struct code_footprint *footprint;
	const struct code_sets *sets;
};

/**
 * culprits_find() - CPI, and causes for each dynamic stall
 * @ret: out; freed by culprits_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int culprits_find(struct culprits *ret, const struct culprit_input *input);

void culprits_deinit(struct culprits *culprits);

/**
 * culprits_unexplained() - cycles of each execution that no culprit accounts for
 *
 * Return: >= 0; 0 of instructions without a significant stall.
 */
double culprits_unexplained(const struct culprits *culprits, uint32_t insn);

#endif
