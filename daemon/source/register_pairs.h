/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Register pairs: how much the registers of a thread changed between two of its samples.
 *
 * A register that a loop changes by a constant in each iteration counts iterations. Its change
 * between two samples in one activation of the loop, divided by the constant, is the number of
 * iterations between them (analysis/frequency/loop_clock.h). This needs no model of the
 * instructions. DCPI (section 7) proposes to capture register values with each sample.
 *
 * Each sample of an activation, except the last one, has a next sample. So the mean number of
 * iterations from a sample to the next, times the samples in the loop, is the number of iterations.
 * A pair must therefore be a sample and the very next one of the same activation. Two samples of a
 * thread are such a pair if they have the same stack pointer, and if no sample of a caller's frame
 * lies between them. Samples of callees, of the kernel and of other threads may lie between them.
 *
 * Pairs come from snapshots (kmod/uapi/dcpi_snapshot.h) in two ways:
 *
 * - The perf source has the registers of all samples. Samples of all CPUs are sorted by time first,
 *   because threads migrate (register_pairs_add()).
 * - dcpi.ko and the BPF program choose one sample in several, and wait for its second sample on the
 *   same CPU. They write a snapshot of each (kmod/core/sample_pairing.h). If the thread has
 *   migrated in between, the reader rejects the pair (register_pairs_examined()).
 *
 * Invariant: each sample that could begin a pair is counted once, as a pair or by the reason for
 * which it is none. Raw values of registers stay in this object. It gives out differences, and
 * daemon/collect/pair_recording.h decides which of them may be stored.
 *
 * Code that was compiled without optimization keeps its counters in memory. perf copies the stack
 * from the stack pointer on, but procedures without calls have their variables below it. So the
 * daemon reads the words around a thread's stack pointer, and below its frame pointer, at each
 * drain. Two such readings during one activation of a procedure are a pair, too. The number of
 * samples between them stands for the time between them, as for registers.
 */
#ifndef DCPI_REGISTER_PAIRS_H
#define DCPI_REGISTER_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/source.h"
#include "kmod/uapi/dcpi_snapshot.h"

#define REGISTER_PAIR_REGISTERS DCPI_SNAPSHOT_REGISTERS
#define REGISTER_PAIR_WORDS 96
#define REGISTER_PAIR_READS 8
/* Changed words of a pair; further ones are ignored. */
#define REGISTER_PAIR_CHANGES 16

/** struct word_change - a word of memory that changed; @number: see PROFILE_WORD_STACK */
struct word_change {
	uint8_t number;
	int32_t delta;
};

/**
 * struct source_pair - two samples of one thread
 * @from, @to: addresses of the earlier and the later sample
 * @tag:       of both
 * @samples:   sampling periods of the thread's CPU time between them: its samples since the earlier
 *             one, the later one included. Time when the thread was switched out is not included
 * @changed:   bit i: register i changed by @delta[i]
 * @words:     @word_count of them; if there are any, no register is given, and @samples are only
 *             those of the frame itself
 */
struct source_pair {
	uint64_t from;
	uint64_t to;
	uint64_t tag;
	uint64_t samples;
	uint32_t changed;
	int64_t delta[REGISTER_PAIR_REGISTERS];
	uint32_t word_count;
	struct word_change words[REGISTER_PAIR_CHANGES];
};

struct register_pairs;

/**
 * struct pair_outcomes - pairs that dcpi.ko or the BPF program began
 * @begun:   all of them
 * @waiting: their second sample may still come
 * @ended:   the activation of the procedure ended first
 * @expired: the activation was not sampled again for long
 * @missed:  there was no room for the second snapshot
 * @snapshots_missed: snapshots without room, of any kind; not part of the sum
 */
struct pair_outcomes {
	uint64_t begun;
	uint64_t waiting;
	uint64_t ended;
	uint64_t expired;
	uint64_t missed;
	uint64_t snapshots_missed;
};

/** register_pairs_create() - Return: NULL if out of memory. Freed by register_pairs_destroy(). */
struct register_pairs *register_pairs_create(void);
void register_pairs_destroy(struct register_pairs *pairs);

/** register_pairs_fn() - a pair; valid during the call */
typedef void (*register_pairs_fn)(void *context, const struct source_pair *pair);

/**
 * register_pairs_add() - add a sample; all samples of its thread must be added, in any order
 * @snapshot: if @known is 0, the sample only counts as time of the thread
 * @emit:     receives pairs if there is no room for the sample
 */
void register_pairs_add(struct register_pairs *pairs, const struct dcpi_snapshot *snapshot,
			register_pairs_fn emit, void *context);

/**
 * register_pairs_settle() - find the pairs of all samples that were added
 *
 * All samples up to some time have been added. Samples that are added afterwards are later.
 *
 * O(samples log samples).
 */
void register_pairs_settle(struct register_pairs *pairs, register_pairs_fn emit, void *context);

/**
 * register_pairs_read_fn() - read memory of a thread, as it is now
 * @sample: the thread's last sample
 *
 * Return: false if that is not possible, or if the thread runs another program by now.
 */
typedef bool (*register_pairs_read_fn)(void *context, const struct dcpi_snapshot *sample,
				       uint64_t address, void *to, size_t bytes);

/**
 * register_pairs_words() - read the frames of threads, and find the pairs of these readings
 *
 * Call this soon after register_pairs_settle(), at intervals of several sampling periods.
 *
 * O(threads). At most REGISTER_PAIR_READS frames are read.
 */
void register_pairs_words(struct register_pairs *pairs, register_pairs_read_fn read,
			  void *read_context, register_pairs_fn emit, void *context);

/**
 * register_pairs_examined() - add a FIRST or SECOND snapshot; those of a CPU in order
 * @emit: gets the pair that a SECOND one completes
 */
void register_pairs_examined(struct register_pairs *pairs, const struct dcpi_snapshot *snapshot,
			     register_pairs_fn emit, void *context);

/**
 * register_pairs_report() - visit the counts since register_pairs_create(), as source_ops.counters
 * @outcomes: counts of the kernel's side; NULL if all samples are added
 *
 * "pairs_begun" is the sum of all others except "pairs_words".
 */
void register_pairs_report(const struct register_pairs *pairs, const struct pair_outcomes *outcomes,
			   source_counter_fn visit, void *context);

#endif
