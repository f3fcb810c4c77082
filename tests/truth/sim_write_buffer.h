/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stores on their way out: entries of one aligned block each, written in order, one at a
 * time. An entry begins to be written when another one comes behind it, or after it has
 * lingered; until then, stores to its block join it.
 */
#ifndef DCPI_TESTS_SIM_WRITE_BUFFER_H
#define DCPI_TESTS_SIM_WRITE_BUFFER_H

#include "tests/truth/sim_machine.h"

/** struct sim_write - @begins, @done: cycles; of the youngest, as if nothing comes behind it. */
struct sim_write {
	uint64_t block;
	uint64_t begins;
	uint64_t done;
	uint32_t cost;
};

/** struct sim_write_buffer - @first: the oldest of @count, in a ring of @entries. */
struct sim_write_buffer {
	struct sim_write ring[SIM_WRITES_MAX];
	uint32_t entries;
	uint32_t linger;
	uint32_t shift;
	uint32_t first;
	uint32_t count;
};

void sim_write_buffer_init(struct sim_write_buffer *buffer, const struct sim_machine *machine);

/** sim_write_buffer_joins() - whether a store at a cycle goes into an entry that is there. */
bool sim_write_buffer_joins(struct sim_write_buffer *buffer, uint64_t address, uint64_t now);

/** sim_write_buffer_free_at() - Return: the cycle, @now at the earliest, when there is room. */
uint64_t sim_write_buffer_free_at(struct sim_write_buffer *buffer, uint64_t now);

/** sim_write_buffer_add() - an entry that takes @cost cycles to write; there is room. */
void sim_write_buffer_add(struct sim_write_buffer *buffer, uint64_t address, uint64_t now,
			  uint32_t cost);

/** sim_write_buffer_empty_at() - Return: when all is written, if it is told to hurry. */
uint64_t sim_write_buffer_empty_at(struct sim_write_buffer *buffer, uint64_t now);

#endif
