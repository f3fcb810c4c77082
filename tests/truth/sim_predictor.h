/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a processor believes of branches: two-bit counters (chosen with some history of
 * branches, or none) for conditional ones, a stack of return addresses, and for indirect
 * ones the hint in the instruction or the last target.
 */
#ifndef DCPI_TESTS_SIM_PREDICTOR_H
#define DCPI_TESTS_SIM_PREDICTOR_H

#include "tests/truth/sim_machine.h"

struct sim_predictor {
	const struct sim_machine *machine;
	uint8_t *counters;
	uint64_t *targets;
	uint32_t history;
	uint32_t top;
	uint64_t returns[SIM_RETURNS_MAX];
};

/** sim_predictor_init() - knows nothing. Return: 0 or -ENOMEM. */
int sim_predictor_init(struct sim_predictor *predictor, const struct sim_machine *machine);

/**
 * sim_predictor_foresees() - whether it knew where an instruction goes; then it learns
 * @next: where it went; of conditional branches, elsewhere than to the next instruction
 *        means taken
 */
bool sim_predictor_foresees(struct sim_predictor *predictor, const struct sim_insn *insn,
			    uint64_t next);

void sim_predictor_deinit(struct sim_predictor *predictor);

#endif
