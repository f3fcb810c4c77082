/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of what is at the head of the issue queue, by several independent samplers at
 * once: each interrupts after a random number of cycles, uniform in a window around its
 * period. Around 62,000 that is DCPI's U[60K,64K]; shorter periods have, in proportion,
 * wider windows, so that loops can't keep step with them.
 *
 * A sampler may have a budget instead of a period: it begins with a short period, and
 * whenever it has twice its budget, forgets half of its samples, as chance will have it, and
 * doubles the period; in the end it forgets so many that the rest is at most the budget and
 * the cycles are that many times a whole period. So short programs give as many samples as
 * long ones.
 */
#ifndef DCPI_TESTS_SIM_SAMPLER_H
#define DCPI_TESTS_SIM_SAMPLER_H

#include <stddef.h>

#include "tests/truth/sim_insn.h"

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
 * struct sim_samplers - @next: first cycle to be sampled; @late: samples to be skidded;
 * @sampled: instructions that have samples
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
 * sim_samplers_add() - before the first cycle
 * @period: in cycles; @budget: samples wanted; one of them is 0
 *
 * Return: 0; -EINVAL; -E2BIG: too many.
 */
int sim_samplers_add(struct sim_samplers *samplers, uint64_t period, uint64_t budget,
		     uint64_t seed);

/** sim_samplers_take() - @insn is at the head up to and with cycle @until >= @next. */
void sim_samplers_take(struct sim_samplers *samplers, struct sim_insn *insn, uint64_t until);

/** sim_samplers_skid() - @insn comes behind one that was sampled. */
void sim_samplers_skid(struct sim_samplers *samplers, struct sim_insn *insn);

/** sim_samplers_end() - after @cycles in all: keep to budgets, and say what periods were. */
void sim_samplers_end(struct sim_samplers *samplers, uint64_t cycles);

#endif
