/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of the instruction at the head of the issue queue, by several independent samplers at
 * once. Each interrupts after a random number of cycles, uniform in a window around its period. A
 * period of 62,000 has DCPI's window U[60K,64K]. Shorter periods have relatively wider windows, so
 * that loops cannot be in phase with them.
 *
 * A sampler may have a budget instead of a period. It begins with a short period. Whenever it has
 * twice its budget, it drops a random half of its samples and doubles the period. In the end it
 * drops more samples, until their number is at most the budget and times the (whole) period gives
 * the number of cycles. So short programs yield as many samples as long ones.
 */
#ifndef DCPI_TESTS_SIM_SAMPLER_H
#define DCPI_TESTS_SIM_SAMPLER_H

#include <stddef.h>

#include "tests/eval/truth/sim_insn.h"

#define SIM_SAMPLERS_MAX 64

/** struct sim_sampler - @period_min to @period_max cycles; @samples so far; @budget or 0. */
struct sim_sampler {
	uint64_t period_min;
	uint64_t period_max;
	uint64_t budget;
	uint64_t seed;
	uint64_t random;
	uint64_t next;
	uint64_t samples;
};

/**
 * struct sim_samplers - @next: first cycle to be sampled; @late: samples to be credited to the next
 * instruction; @sampled: instructions that have samples
 */
struct sim_samplers {
	struct sim_sampler list[SIM_SAMPLERS_MAX];
	uint32_t count;
	uint64_t next;
	bool late_any;
	uint32_t late[SIM_SAMPLERS_MAX];
	struct sim_insn **sampled;
	size_t sampled_count;
};

void sim_samplers_init(struct sim_samplers *samplers);

/**
 * sim_samplers_add() - add a sampler, before the first cycle
 * @period: in cycles; @budget: number of samples; one of them is 0
 *
 * Return: 0; -EINVAL; -E2BIG: too many samplers.
 */
int sim_samplers_add(struct sim_samplers *samplers, uint64_t period, uint64_t budget,
		     uint64_t seed);

/** sim_samplers_take() - @insn is at the head up to and including cycle @until >= @next. */
void sim_samplers_take(struct sim_samplers *samplers, struct sim_insn *insn, uint64_t until);

/** sim_samplers_skid() - @insn follows a sampled instruction. */
void sim_samplers_skid(struct sim_samplers *samplers, struct sim_insn *insn);

/** sim_samplers_end() - finish after @cycles: reduce samples to budgets, set average periods. */
void sim_samplers_end(struct sim_samplers *samplers, uint64_t cycles);

#endif
