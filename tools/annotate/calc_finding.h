/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The most expensive stall of a procedure: a static stall, or the dynamic stall of one instruction,
 * with the causes that the evidence leaves. Reports begin with it.
 */
#ifndef DCPI_CALC_FINDING_H
#define DCPI_CALC_FINDING_H

#include "analysis/procedure_analysis.h"

/**
 * enum calc_finding_kind
 * @CALC_FINDING_NONE:   no significant stall
 * @CALC_FINDING_FAULTS: page faults, which take more time in the kernel than any stall takes in the
 *                       procedure
 */
enum calc_finding_kind {
	CALC_FINDING_NONE,
	CALC_FINDING_STATIC,
	CALC_FINDING_DYNAMIC,
	CALC_FINDING_FAULTS,
};

/**
 * struct calc_finding - the most expensive stall of a procedure
 * @insn:   that waits; CALC_FINDING_FAULTS: with the most time in the kernel
 * @cycles: per execution
 * @cost:   of all executions, in samples
 * @stall:  CALC_FINDING_STATIC: owned by the analysis
 * @causes: CALC_FINDING_DYNAMIC: indices in culprits.list. The evidence does not separate them;
 *          the likeliest is first
 * @one:    @cost of all instructions with the same first cause, from the same instruction
 * @total:  from any instruction, for calc_finding_worst(); else @one
 * @count:  0: no known cause
 * @kernel: CALC_FINDING_FAULTS: time of the faults of all instructions in the kernel, in samples;
 *          @total also includes the procedure's stalls because of them
 * @stacks: call stacks that show @kernel
 * @certain: the first one is the cause of most of it
 */
struct calc_finding {
	enum calc_finding_kind kind;
	uint32_t insn;
	double cycles;
	double cost;
	double one;
	double total;
	double kernel;
	double stacks;
	const struct static_stall *stall;
	uint32_t causes[CULPRIT_CAUSES];
	uint32_t count;
	bool certain;
};

/** calc_finding_cost() - return the samples of an instruction's dynamic stall, in all executions.
 *
 * Return: 0 if it is too short to be reported.
 */
double calc_finding_cost(const struct procedure_analysis *analysis, uint32_t insn);

/**
 * calc_finding_first() - return the likeliest cause of an instruction's stall, in culprits.list
 *
 * Return: UINT32_MAX if there is none.
 */
uint32_t calc_finding_first(const struct procedure_analysis *analysis, uint32_t insn);

/**
 * calc_finding_from() - return the instruction that a stalled one waits for, or itself
 * @cause: in culprits.list
 */
uint32_t calc_finding_from(const struct procedure_analysis *analysis, uint32_t insn,
			   uint32_t cause);

/** calc_finding_stall() - find the worst dynamic stall. Return: CALC_FINDING_NONE or _DYNAMIC */
struct calc_finding calc_finding_stall(const struct procedure_analysis *analysis);

/**
 * calc_finding_static() - find the worst static stall
 *
 * Return: CALC_FINDING_NONE if it takes a small part of the procedure's time.
 */
struct calc_finding calc_finding_static(const struct procedure_analysis *analysis);

/**
 * calc_finding_static_cause() - return the cause that a static stall shows: a busy unit, an atomic
 * access, or just CULPRIT_LATENCY
 */
enum culprit_cause calc_finding_static_cause(const struct procedure_analysis *analysis,
					     const struct static_stall *stall);

/** calc_finding_faults() - add up the page faults. Return: CALC_FINDING_NONE or _FAULTS */
struct calc_finding calc_finding_faults(const struct procedure_analysis *analysis);

/**
 * calc_finding_all() - return the samples that a finding's total is a part of: those of the
 * procedure, and those of its page faults if it is about these
 */
double calc_finding_all(const struct calc_finding *finding, double samples);

/**
 * calc_finding_worst() - find the most expensive of the worst static stall, the cause that costs
 * most in all instructions together, and page faults
 *
 * Return: CALC_FINDING_NONE if it takes less than a twentieth of the time.
 */
struct calc_finding calc_finding_worst(const struct procedure_analysis *analysis);

#endif
