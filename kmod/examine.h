/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Examined samples: one sample in several yields more than its count. It is interpreted up to its
 * next branch (branch.h), and a pair of snapshots begins after it (core/sample_pairing.h).
 *
 * The handler's fast path only counts down to the next sample that needs this code: the next one to
 * be examined, or any sample while a pair waits for its first or second one.
 */
#ifndef DCPI_EXAMINE_H
#define DCPI_EXAMINE_H

#include <linux/types.h>

struct pt_regs;
struct sampler_cpu;
struct sampler_event;

/**
 * struct examine_counts - counts of a CPU since the start
 * @examined: samples examined
 * @begun:    pairs begun
 * @waiting:  of these, pairs that wait for their second sample
 * @ended, @expired: pairs without a second sample, see enum sample_pairing_outcome
 * @missed:   first snapshots that found no room, so that no pair began
 * @missed_second: pairs that matched, but whose second snapshot found no room
 */
struct examine_counts {
	u64 examined;
	u64 begun;
	u64 waiting;
	u64 ended;
	u64 expired;
	u64 missed;
	u64 missed_second;
};

/** examine_allocate() - examine one in @every samples of each event of a CPU. Return: 0; -ENOMEM */
int examine_allocate(unsigned int cpu, struct sampler_cpu *sampled, u32 every);

/**
 * examine_release() - free the memory, if there is any; the counts remain
 *
 * No handler may be running.
 */
void examine_release(struct sampler_cpu *sampled);

/**
 * examine() - called for a sample when sampler_event.until_examined has become 0; sets it again
 * @regs:    all registers of the interrupted context
 * @process: tag of the current process, event and count zero
 *
 * Context: any; the store is not entered. Return: SAMPLE_WAKE if the reader should be woken, or 0.
 */
unsigned int examine(struct sampler_event *event, struct pt_regs *regs, u64 process);

/** examine_count() - return the counts of a CPU; they change while it is sampled */
struct examine_counts examine_count(const struct sampler_cpu *sampled);

#endif
