/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lies behind the pipeline: caches, the data TLB, misses under way, and the write
 * buffer. It says when; the pipeline waits.
 */
#ifndef DCPI_TESTS_SIM_MEMORY_H
#define DCPI_TESTS_SIM_MEMORY_H

#include "tests/truth/sim_cache.h"
#include "tests/truth/sim_tlb.h"
#include "tests/truth/sim_write_buffer.h"

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

/** sim_memory_init() - everything empty. Return: 0 or -ENOMEM. */
int sim_memory_init(struct sim_memory *memory, const struct sim_machine *machine);

/** sim_memory_fetch() - a line of code. Return: cycles that it takes longer than a hit. */
uint32_t sim_memory_fetch(struct sim_memory *memory, uint64_t address);

/** sim_memory_miss_free_at() - Return: when a load can miss, @now at the earliest. */
uint64_t sim_memory_miss_free_at(const struct sim_memory *memory, uint64_t now);

/** sim_memory_hits() - whether a load would find its line in L1D, or the line is under way. */
bool sim_memory_hits(struct sim_memory *memory, uint64_t address);

/**
 * sim_memory_load() - load
 * @now:    when a hit has its data
 * @missed: out: set if the line was not there
 *
 * Return: when the data is there.
 */
uint64_t sim_memory_load(struct sim_memory *memory, uint64_t address, uint64_t now, bool *missed);

/** sim_memory_store_at() - Return: when a store can go out, @now at the earliest. */
uint64_t sim_memory_store_at(struct sim_memory *memory, uint64_t address, uint64_t now);

/** sim_memory_store() - store, when it can. */
void sim_memory_store(struct sim_memory *memory, uint64_t address, uint64_t now);

void sim_memory_deinit(struct sim_memory *memory);

#endif
