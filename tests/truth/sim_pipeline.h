/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In-order issue. Of each instruction of the stream it works out the cycle in which it
 * issues; the cycles since the one before issued, it has been at the head of the queue,
 * and each of them has one cause, the first of these that was still to come to an end:
 *
 *  1. it had not been fetched: a branch that was not foreseen, the bubble behind one that
 *     was, ITB, I-cache
 *  2. its last operand was not there: the producer's known latency first, then the DTB
 *     miss, the D-cache miss or the slow division that the producer had
 *  3. its unit was busy, or (machines whose DTB misses trap) the DTB did not know its page
 *  4. no miss could begin, the write buffer was full, or a barrier waited for it
 *
 * The last of its cycles is that in which it issues. One that issues with the instruction
 * before it has none.
 */
#ifndef DCPI_TESTS_SIM_PIPELINE_H
#define DCPI_TESTS_SIM_PIPELINE_H

#include "tests/truth/sim_fetch.h"
#include "tests/truth/sim_predictor.h"
#include "tests/truth/sim_sampler.h"

/** struct sim_access - an instruction touches memory. */
struct sim_access {
	uint64_t address;
	uint32_t insn;
};

/** struct sim_register - cycles: until @fixed by latency, then by @causes, to the end of all. */
struct sim_register {
	uint64_t quick; /* for branches on it */
	uint64_t fixed;
	uint64_t middle;
	uint64_t ready;
	uint8_t causes[2];
	bool loaded; /* reaches addresses a cycle earlier than others do, by need */
};

enum sim_unit {
	SIM_UNIT_NONE,
	SIM_UNIT_MULTIPLY,
	SIM_UNIT_DIVIDE,
	SIM_UNIT_FP_DIVIDE,
	SIM_UNITS
};

#define SIM_DELAYS 16
#define SIM_RECENT 8 /* cycles for which stores are remembered */

/**
 * struct sim_pipeline - @now: cycle of the last issue, and with it all cycles so far;
 * the rest is private
 */
struct sim_pipeline {
	uint64_t now;
	uint64_t instructions;
	struct sim_machine machine;
	struct sim_memory memory;
	struct sim_fetch fetch;
	struct sim_predictor predictor;
	struct sim_samplers *samplers;
	struct sim_register registers[SIM_REGS];
	uint64_t unit_free[SIM_UNITS];
	uint64_t memory_free;
	uint64_t port_free;
	uint64_t arithmetic_done;
	uint64_t stores[SIM_RECENT];
	uint64_t group;
	uint64_t reach;
	uint32_t issued;
	bool loaded;
	bool stored;
	uint64_t random;
	uint64_t at;
	struct sim_delay delays[SIM_DELAYS];
	uint32_t delay_count;
};

/** sim_pipeline_init() - Return: 0 or -ENOMEM. */
int sim_pipeline_init(struct sim_pipeline *pipeline, const struct sim_machine *machine,
		      struct sim_samplers *samplers);

/**
 * sim_pipeline_step() - one instruction
 * @next:     address of the one behind it
 * @accesses: what it did to memory
 */
void sim_pipeline_step(struct sim_pipeline *pipeline, struct sim_insn *insn, uint64_t next,
		       const struct sim_access *accesses, uint32_t count);

void sim_pipeline_deinit(struct sim_pipeline *pipeline);

#endif
