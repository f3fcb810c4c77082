/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Branch prediction. Conditional branches use two-bit counters, selected with some history of
 * branches or none, and returns use a stack of return addresses. Indirect branches use the hint in
 * the instruction or the last target.
 */
#ifndef DCPI_TESTS_SIM_PREDICTOR_H
#define DCPI_TESTS_SIM_PREDICTOR_H

#include "tests/eval/truth/sim_machine.h"

struct sim_predictor {
	const struct sim_machine *machine;
	uint8_t *counters;
	uint64_t *targets;
	uint32_t history;
	uint32_t top;
	uint64_t returns[SIM_RETURNS_MAX];
};

/** sim_predictor_init() - start without any history. Return: 0 or -ENOMEM. */
int sim_predictor_init(struct sim_predictor *predictor, const struct sim_machine *machine);

/**
 * sim_predictor_foresees() - return true if the instruction was predicted correctly; then learn
 * @next: address of the next executed instruction; a conditional branch was taken if that is not
 *        the following one
 */
bool sim_predictor_foresees(struct sim_predictor *predictor, const struct sim_insn *insn,
			    uint64_t next);

void sim_predictor_deinit(struct sim_predictor *predictor);

#endif
