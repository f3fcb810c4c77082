/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How fast an out-of-order machine can execute a block over and over when nothing
 * goes wrong: no faster than its front end, its busiest ports, and, in a loop of one
 * block, the chain of results from iteration to iteration. The idea is that of
 * Abel, Sharma and Reineke, "Facile: Fast, Accurate, and Interpretable
 * Basic-Block Throughput Prediction" (2023). We leave out what depends on the decoders and
 * their caches, and there is one model for all x86-64 processors; so it is a bound
 * that real blocks seldom reach, and says little of any one of them.
 */
#ifndef DCPI_THROUGHPUT_H
#define DCPI_THROUGHPUT_H

#include "analysis/machine/machine_bound.h"
#include "analysis/machine/schedule.h"

/** struct throughput - cycles an execution of a block takes at least, for each reason. */
struct throughput {
	double front;
	double ports;
	double dependences; /* 0 if the block is not a loop by itself */
};

/** throughput_of_block() - @loops: control goes from its end to its beginning. */
struct throughput throughput_of_block(const struct machine_bound *bound, const struct insn *insns,
				      size_t count, bool loops);

/**
 * throughput_schedule() - M_i of each instruction: its share of the block's bound
 * @schedule: its arrays are there, zeroed
 *
 * Shares are in proportion to operations in the front end, since results retire in
 * groups and stalls hit whichever is the oldest. Where dependences take longer than all else, as
 * in a loop that multiplies a sum, the rest is told as static stalls (STALL_LATENCY): instructions
 * retire in their order, so the time shows behind the one that has not finished, whoever
 * waits for its result. One that only uses a chain of results, and is none of it, is not to blame,
 * but the slowest one of the chain.
 *
 * Return: 0 or -ENOMEM.
 */
int throughput_schedule(struct schedule *schedule, const struct machine_bound *bound,
			const struct cfg *cfg);

#endif
