/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory system: caches, the data TLB, outstanding misses, and the write buffer. It computes
 * the times of accesses; the pipeline waits accordingly.
 */
#ifndef DCPI_TESTS_SIM_MEMORY_H
#define DCPI_TESTS_SIM_MEMORY_H

#include "tests/eval/truth/sim_cache.h"
#include "tests/eval/truth/sim_tlb.h"
#include "tests/eval/truth/sim_write_buffer.h"

struct sim_memory {
	const struct sim_machine *machine;
	struct sim_cache l1i;
	struct sim_cache l1d;
	struct sim_cache l2;
	struct sim_cache l3;
	struct sim_tlb itb;
	struct sim_tlb dtb;
	struct sim_write_buffer writes;
	uint64_t misses[SIM_MISSES_MAX];
};

/** sim_memory_init() - start with empty caches and buffers. Return: 0 or -ENOMEM. */
int sim_memory_init(struct sim_memory *memory, const struct sim_machine *machine);

/** sim_memory_fetch() - fetch a line of code. Return: cycles in addition to those of a hit. */
uint32_t sim_memory_fetch(struct sim_memory *memory, uint64_t address);

/** sim_memory_miss_free_at() - Return: the first cycle, @now or later, when a load can miss. */
uint64_t sim_memory_miss_free_at(const struct sim_memory *memory, uint64_t now);

/**
 * sim_memory_hits() - return true if a load would find its line in L1D, or the line is being
 * fetched.
 */
bool sim_memory_hits(struct sim_memory *memory, uint64_t address);

/**
 * sim_memory_load() - load
 * @now:    cycle when a hit has its data
 * @missed: out: set if the line was not there
 *
 * Return: the cycle when the data is available.
 */
uint64_t sim_memory_load(struct sim_memory *memory, uint64_t address, uint64_t now, bool *missed);

/** sim_memory_store_at() - Return: the first cycle, @now or later, when a store can be written. */
uint64_t sim_memory_store_at(struct sim_memory *memory, uint64_t address, uint64_t now);

/** sim_memory_store() - store, at a time permitted by sim_memory_store_at(). */
void sim_memory_store(struct sim_memory *memory, uint64_t address, uint64_t now);

void sim_memory_deinit(struct sim_memory *memory);

#endif
