/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The front end: it fetches aligned blocks of code ahead of issue, limited by its buffers, and
 * restarts after mispredicted branches. For each instruction it computes the first cycle in which
 * the instruction could issue, and the causes of the delay.
 */
#ifndef DCPI_TESTS_SIM_FETCH_H
#define DCPI_TESTS_SIM_FETCH_H

#include "tests/eval/truth/sim_memory.h"

/**
 * struct sim_delay - the cycles before @until are due to @cause, unless an earlier delay has them.
 */
struct sim_delay {
	uint64_t until;
	uint8_t cause;
};

#define SIM_FETCH_DELAYS 4

/**
 * struct sim_fetch - private except for @ready, @delays and @delay_count: these describe the
 * current block; only its first instruction has delays
 */
struct sim_fetch {
	const struct sim_machine *machine;
	struct sim_memory *memory;
	uint64_t ready;
	struct sim_delay delays[SIM_FETCH_DELAYS];
	uint32_t delay_count;
	uint32_t turn;
	uint64_t block;
	uint64_t line;
	uint64_t page;
	uint64_t left[SIM_FETCH_AHEAD_MAX];
	uint64_t restart;
	uint8_t restart_cause;
	bool taken;
};

void sim_fetch_init(struct sim_fetch *fetch, const struct sim_machine *machine,
		    struct sim_memory *memory);

/** sim_fetch_insn() - fetch the next instruction. @now: cycle of the last issue. */
void sim_fetch_insn(struct sim_fetch *fetch, struct sim_insn *insn, uint64_t now);

/** sim_fetch_taken() - the last instruction was a correctly predicted taken branch. */
void sim_fetch_taken(struct sim_fetch *fetch);

/** sim_fetch_restart() - no instruction after the last one can issue before @cycle. */
void sim_fetch_restart(struct sim_fetch *fetch, uint64_t cycle, enum sim_cause cause);

#endif
