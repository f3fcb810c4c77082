/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Register pairs: how much the registers of a thread changed between two of its samples.
 *
 * A register that a loop changes by a constant in each iteration counts iterations. Its change
 * between two samples in one activation of the loop, divided by the constant, is the number of
 * iterations between them (analysis/frequency/loop_clock.h). This needs no model of the
 * instructions. DCPI (section 7) proposes to capture register values with each sample.
 *
 * Two samples of a thread are a pair if they have the same stack pointer, and if no sample of a
 * caller's frame lies between them. Then both may be in one activation of a procedure. Samples of
 * callees and of the kernel may lie between them. Samples of all CPUs are sorted by time first,
 * because threads migrate.
 */
#ifndef DCPI_REGISTER_PAIRS_H
#define DCPI_REGISTER_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#define REGISTER_PAIR_REGISTERS 32

/**
 * struct register_sample - a thread at a sample
 * @tid:     thread
 * @known:   @pc, @sp and @reg are set; otherwise the sample only counts as time of the thread
 * @tag:     process, generation and event, as dcpi_tag() composes them
 * @time_ns: CLOCK_MONOTONIC
 * @sp:      stack pointer
 * @reg:     general registers by the number in their encoding
 */
struct register_sample {
	uint32_t tid;
	bool known;
	uint64_t tag;
	uint64_t time_ns;
	uint64_t pc;
	uint64_t sp;
	uint64_t reg[REGISTER_PAIR_REGISTERS];
};

/**
 * struct source_pair - two samples of one thread
 * @from, @to: addresses of the earlier and the later sample
 * @tag:       of both
 * @samples:   sampling periods of the thread's time between them
 * @changed:   bit i: register i changed by @delta[i]
 */
struct source_pair {
	uint64_t from;
	uint64_t to;
	uint64_t tag;
	uint64_t samples;
	uint32_t changed;
	int64_t delta[REGISTER_PAIR_REGISTERS];
};

struct register_pairs;

/** struct register_pairs_counts - samples with registers, by what became of each of them */
struct register_pairs_counts {
	uint64_t pairs;
	uint64_t first;	  /* no earlier sample of this frame is known */
	uint64_t distant; /* the code of the earlier sample is too far away for one procedure */
};

/** register_pairs_create() - Return: NULL if out of memory. Freed by register_pairs_destroy(). */
struct register_pairs *register_pairs_create(void);
void register_pairs_destroy(struct register_pairs *pairs);

/** register_pairs_fn() - a pair; valid during the call */
typedef void (*register_pairs_fn)(void *context, const struct source_pair *pair);

/**
 * register_pairs_add() - add a sample, in any order
 * @emit: gets pairs if there is no room for the sample otherwise
 */
void register_pairs_add(struct register_pairs *pairs, const struct register_sample *sample,
			register_pairs_fn emit, void *context);

/**
 * register_pairs_settle() - find the pairs of all samples that were added
 *
 * All samples up to some time have been added. Samples that are added afterwards are later.
 *
 * O(samples log samples).
 */
void register_pairs_settle(struct register_pairs *pairs, register_pairs_fn emit, void *context);

/** register_pairs_counts() - since register_pairs_create() */
struct register_pairs_counts register_pairs_counts(const struct register_pairs *pairs);

#endif
