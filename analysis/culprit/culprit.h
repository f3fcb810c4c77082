/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Causes of dynamic stalls (DCPI section 6.3): every cause is assumed until it is ruled out. Each
 * possible cause is a rule (culprit_rule.h), which may rule the cause out, bound its share of the
 * stall or rate it as unlikely. A stall without any remaining cause is unexplained.
 *
 * Differences from the paper: bounds of all causes also follow from how often control arrives on
 * paths that make them possible, not only from event samples. A loop that fits the I-cache misses
 * at most once per line and entry, a branch that always goes in one direction is predicted, and a
 * load whose result was used before has completed. Causes are rated as unlikely for two reasons:
 * they are rare in general (a stack load that misses, a mispredicted return), or they would also
 * have stalled other instructions of the procedure, which did not stall. Unlikely causes and causes
 * with a small bound are listed only if the others cannot account for the stall; 15% of a stall may
 * remain without a cause.
 */
#ifndef DCPI_CULPRIT_H
#define DCPI_CULPRIT_H

#include "analysis/culprit/code_footprint.h"
#include "analysis/culprit/set_pressure.h"

/**
 * enum culprit_cause - causes of dynamic stalls, in the order of Figure 4, then others
 * @CULPRIT_INTERRUPTS: code before the instruction ran with interrupts disabled. Its samples were
 *                      taken here, because the samples' interrupt can be disabled
 * @CULPRIT_STORE_FORWARD: out of order, a load waits for stores, because none has all its bytes
 * @CULPRIT_SHARING: out of order, another thread accesses the cache line, and one of both stores
 * @CULPRIT_PAGE_FAULT: out of order, the instruction accesses a page that the kernel has to map
 *                      first
 * @CULPRIT_LATENCY: out of order, operands come from a chain of instructions without any miss
 */
enum culprit_cause {
	CULPRIT_ICACHE, /* I-cache miss, not ITB */
	CULPRIT_ITB,	/* ITB and I-cache miss */
	CULPRIT_DCACHE, /* load miss in the D-cache; the stalled instruction uses its result */
	CULPRIT_DTB,
	CULPRIT_WRITE_BUFFER,
	CULPRIT_SYNCHRONIZATION, /* barriers, atomics */
	CULPRIT_BRANCH,		 /* branch misprediction */
	CULPRIT_IMUL,		 /* integer multiplier or divider busy */
	CULPRIT_FDIV,		 /* FP divider busy */
	CULPRIT_INTERRUPTS,
	CULPRIT_STORE_FORWARD,
	CULPRIT_SHARING,
	CULPRIT_PAGE_FAULT,
	CULPRIT_LATENCY,
	CULPRIT_OTHER, /* out of order: the older instruction is not known; traps, system code */
	CULPRIT_CAUSES,
	CULPRIT_UNEXPLAINED = CULPRIT_CAUSES,
};

/** culprit_name() - return the name as in Figure 4: "D-cache miss"; also "Unexplained stall". */
const char *culprit_name(enum culprit_cause cause);
/** culprit_modern_name() - return the name for out-of-order machines only: "Divider busy" */
const char *culprit_modern_name(enum culprit_cause cause);
/** culprit_is_modern() - return true for causes that exist on out-of-order machines only */
bool culprit_is_modern(enum culprit_cause cause);
/** culprit_key() - return the key in JSON: "dcache". */
const char *culprit_key(enum culprit_cause cause);
/** culprit_letter() - return the letter that marks bubbles: p D d w i I m f y x F S P L o, '?' */
char culprit_letter(enum culprit_cause cause);

/**
 * struct culprit - a possible cause of an instruction's dynamic stall
 * @cycles_low, @cycles_high: bounds of the average cycles per execution of the instruction that may
 *        be due to this cause. 0 <= low <= high <= the stall, high > 0. Out of order, low is 0,
 *        because work overlaps, and the cause need not be near. The exception are misses that the
 *        addresses of data prove (culprit_data.h)
 * @from: the causing instruction (the load that missed); UINT32_MAX: the stalled instruction or
 *        none
 */
struct culprit {
	enum culprit_cause cause;
	double cycles_low;
	double cycles_high;
	uint32_t from;
};

/**
 * struct instruction_cpi - breakdown of the cycles of an instruction
 * @cpi:            cycles at the head of the issue queue per execution; NaN: not known to be
 *                  executed
 * @low, @high:     @cpi by the ends of the frequency's interval
 * @execution:      cycles for issuing (M_i without its static stalls)
 * @static_cycles:  sum of its static stalls
 * @dynamic_cycles: the rest; negative: an unexplained gain
 * @significant:    @dynamic_cycles exceeds both sampling noise and the interval of the frequency.
 *                  Stalls longer than 15% of M need not exceed the interval; then the @cycles_low
 *                  of their causes are 0. Out of order, where M is rarely reached, this applies to
 *                  stalls longer than M.
 * @first, @count:  its causes, in culprits.list. Each cause occurs once, in order of @cycles_high;
 *                  none if there is no significant stall, or no explanation
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

/**
 * struct culprits - results for a procedure
 * @insns:     parallel to the graph's
 * @patterned: out of order, the branches may follow patterns that the processor predicts. The
 *             procedure took less time than random directions would, at the upper end of the
 *             interval of its executions
 */
struct culprits {
	struct instruction_cpi *insns;
	struct culprit *list;
	size_t count;
	bool patterned;
};

/**
 * struct culprit_input - input of the rules
 * @thorough:  always list unlikely and small causes, as the paper's tool did
 * @footprint: of the image, settled for half of the I-cache; NULL: unknown
 * @sets:      of the image, settled for the I-cache; NULL: unknown
 */
struct culprit_input {
	bool thorough;
	const struct cfg *cfg;
	const struct machine_model *model;
	const struct schedule *schedule;
	const struct procedure_profile *profile;
	const struct frequency *frequency;
	const struct code_footprint *footprint;
	const struct set_pressure *sets;
};

/**
 * culprits_find() - compute CPI, and find the causes of each dynamic stall
 * @ret: out; freed by culprits_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int culprits_find(struct culprits *ret, const struct culprit_input *input);

void culprits_deinit(struct culprits *culprits);

/**
 * culprits_unexplained() - return the cycles per execution that no listed cause accounts for
 *
 * Return: >= 0; 0 for instructions without a significant stall.
 */
double culprits_unexplained(const struct culprits *culprits, uint32_t insn);

#endif
