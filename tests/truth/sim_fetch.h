/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The front end: fetches aligned blocks of code ahead of issue, as far as it has buffers,
 * and is sent back by branches that it didn't foresee. Says for each instruction the first
 * cycle in which it could issue, and what kept it.
 */
#ifndef DCPI_TESTS_SIM_FETCH_H
#define DCPI_TESTS_SIM_FETCH_H

#include "tests/truth/sim_memory.h"

/** struct sim_delay - the cycles before @until, as far as no earlier delay has them, by @cause. */
struct sim_delay {
	uint64_t until;
	uint8_t cause;
};

#define SIM_FETCH_DELAYS 4

/**
 * struct sim_fetch - private but for @ready, @delays and @delay_count: of the current
 * block; no delays but for its first instruction
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

/** sim_fetch_insn() - the next instruction. @now: cycle of the last issue. */
void sim_fetch_insn(struct sim_fetch *fetch, struct sim_insn *insn, uint64_t now);

/** sim_fetch_taken() - the last instruction went elsewhere, as was foreseen. */
void sim_fetch_taken(struct sim_fetch *fetch);

/** sim_fetch_restart() - nothing behind the last instruction can issue before a cycle. */
void sim_fetch_restart(struct sim_fetch *fetch, uint64_t cycle, enum sim_cause cause);

#endif
