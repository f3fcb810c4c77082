/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Upper bound of the speed of an out-of-order machine that executes a block repeatedly without
 * dynamic stalls. The limits are its front end, its busiest ports, and, in a loop of one block, the
 * loop-carried dependence chain. The idea is that of Abel, Sharma and Reineke, "Facile: Fast,
 * Accurate, and Interpretable Basic-Block Throughput Prediction" (2023). We omit the decoders and
 * their caches. So it is a bound that real blocks rarely reach, and weak evidence for any single
 * block.
 */
#ifndef DCPI_THROUGHPUT_H
#define DCPI_THROUGHPUT_H

#include "analysis/machine/machine_bound.h"
#include "analysis/machine/schedule.h"

/** struct throughput - lower bounds of the cycles per execution of a block, by reason. */
struct throughput {
	double front;
	double ports;
	double dependences; /* 0 if the block does not loop to itself */
};

/** throughput_of_block() - @loops: control returns from the block's end to its beginning. */
struct throughput throughput_of_block(const struct machine_bound *bound, const struct insn *insns,
				      size_t count, bool loops);

/**
 * throughput_latency() - return the cycles from the operands to the result of an instruction
 * @bound: NULL: unknown, one cycle
 *
 * Loads hit the first cache.
 */
double throughput_latency(const struct machine_bound *bound, const struct insn *insn);

/**
 * throughput_schedule() - compute M_i of each instruction: its share of the block's bound
 * @schedule: with allocated, zeroed arrays
 *
 * Shares are proportional to front-end operations, since results retire in groups and stalls hit
 * the oldest instruction. Dependences may take longer than all other bounds, as in a loop that
 * multiplies a sum. The remainder is then reported as static stalls of kind STALL_LATENCY:
 * instructions retire in order, so the time shows after the instruction that has not finished,
 * regardless of its consumers. The stall of an instruction that only uses results of a dependence
 * chain is attributed to the slowest instruction of the chain.
 *
 * Return: 0 or -ENOMEM.
 */
int throughput_schedule(struct schedule *schedule, const struct machine_bound *bound,
			const struct cfg *cfg);

#endif
