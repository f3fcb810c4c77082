/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The write buffer: entries of one aligned block each, written in order, one at a time. Writing an
 * entry begins when another entry follows, or after a time of lingering; until then, stores to its
 * block are merged into it.
 */
#ifndef DCPI_TESTS_SIM_WRITE_BUFFER_H
#define DCPI_TESTS_SIM_WRITE_BUFFER_H

#include "tests/eval/truth/sim_machine.h"

/** struct sim_write - @begins, @done: cycles; for the youngest, assuming that no entry follows. */
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

/**
 * sim_write_buffer_joins() - return true if a store at cycle @now is merged into an existing entry.
 */
bool sim_write_buffer_joins(struct sim_write_buffer *buffer, uint64_t address, uint64_t now);

/** sim_write_buffer_free_at() - Return: the first cycle, @now or later, with a free entry. */
uint64_t sim_write_buffer_free_at(struct sim_write_buffer *buffer, uint64_t now);

/** sim_write_buffer_add() - add an entry that takes @cost cycles to write; there must be room. */
void sim_write_buffer_add(struct sim_write_buffer *buffer, uint64_t address, uint64_t now,
			  uint32_t cost);

/** sim_write_buffer_empty_at() - Return: the cycle when all is written if no entry lingers. */
uint64_t sim_write_buffer_empty_at(struct sim_write_buffer *buffer, uint64_t now);

#endif
