/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In-order issue. The pipeline computes the cycle in which each instruction of the stream issues.
 * During the cycles since the previous issue, the instruction was at the head of the queue. Each of
 * these cycles has one cause, the first of these conditions that still held:
 *
 * 1. The instruction had not been fetched, because of a mispredicted branch, the bubble after a
 *    correctly predicted one, the ITB or the I-cache.
 * 2. Its last operand was not available. That is due to the producer's known latency first, then to
 *    the producer's DTB miss, D-cache miss or slow division.
 * 3. Its unit was busy, or (machines whose DTB misses trap) the DTB did not contain its page.
 * 4. No miss could begin, the write buffer was full, or a barrier waited for it.
 *
 * The last of its cycles is the one in which it issues. An instruction that issues together with
 * the previous one has no cycle.
 */
#ifndef DCPI_TESTS_SIM_PIPELINE_H
#define DCPI_TESTS_SIM_PIPELINE_H

#include "tests/eval/truth/sim_fetch.h"
#include "tests/eval/truth/sim_predictor.h"
#include "tests/eval/truth/sim_sampler.h"

/** struct sim_access - a memory access of an instruction. */
struct sim_access {
	uint64_t address;
	uint32_t insn;
};

/**
 * struct sim_register - time of a register's value: a known latency lasts until @fixed, then
 * @causes[0] until @middle, then @causes[1] until @ready.
 */
struct sim_register {
	uint64_t quick; /* when branches can test it */
	uint64_t fixed;
	uint64_t middle;
	uint64_t ready;
	uint8_t causes[2];
	bool loaded; /* used as an address, it is available a cycle earlier than other results */
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
 * struct sim_pipeline - @now: cycle of the last issue, which is also the number of cycles so far;
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
 * sim_pipeline_step() - issue one instruction
 * @next:     address of the following instruction
 * @accesses: its memory accesses
 */
void sim_pipeline_step(struct sim_pipeline *pipeline, struct sim_insn *insn, uint64_t next,
		       const struct sim_access *accesses, uint32_t count);

void sim_pipeline_deinit(struct sim_pipeline *pipeline);

#endif
