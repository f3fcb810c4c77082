/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which piece of a process' JIT code is at which address.
 *
 * Memory of code is used again: a piece that overlaps older ones replaces them
 * as a whole. Samples are looked up some time after they were taken, so what
 * was replaced since the earliest time that a sample can be from is kept, too.
 */
#ifndef DCPI_JIT_CODE_H
#define DCPI_JIT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct jit_code - a piece of code
 * @start, @bytes: addresses
 * @since_ns:      when it came there (CLOCK_MONOTONIC); 0: not known
 * @name_at:       where in its file the name is
 * @code_at:       likewise the code; 0: the file has names only
 * @slot:          for the user; 0 to begin with
 * @version:       likewise
 * @name_bytes:    length of the name
 * @file:          for the user: which file
 * @at_most:       it has so many bytes at most: where another begins it has ended
 * @by_offset:     for the user: whether offsets in the code mean something
 */
struct jit_code {
	uint64_t start;
	uint64_t since_ns;
	uint64_t name_at;
	uint64_t code_at;
	uint64_t slot;
	uint32_t version;
	uint32_t bytes;
	uint16_t name_bytes;
	uint8_t file;
	bool at_most;
	bool by_offset;
};

/**
 * struct jit_codes - zero-initialised is empty; fields are private
 * @codes:    sorted, disjoint; from @settled on: added since, in order of time
 * @replaced: what they replaced, with since_ns the time of the end
 */
struct jit_codes {
	struct jit_code *codes;
	size_t count;
	size_t capacity;
	size_t settled;
	struct jit_code *replaced;
	size_t replaced_count;
	size_t replaced_capacity;
};

void jit_codes_deinit(struct jit_codes *codes);

/** jit_codes_count() - pieces held, replaced ones included. */
size_t jit_codes_count(const struct jit_codes *codes);

/** jit_codes_add() - add a piece, later than all before. Return: 0 or -ENOMEM. */
int jit_codes_add(struct jit_codes *codes, const struct jit_code *code);

/**
 * jit_codes_move() - the piece that begins at @from begins at @to from now on
 *
 * Return: 0; -ENOENT there is none; -ENOMEM.
 */
int jit_codes_move(struct jit_codes *codes, uint64_t from, uint64_t to, uint64_t time_ns);

/**
 * jit_codes_settle() - put what was added in its place
 * @window_ns: no sample older than this will be looked up
 *
 * O(n + k log k) for k pieces added. To be called before jit_codes_find().
 *
 * Return: whether one replaced another.
 */
bool jit_codes_settle(struct jit_codes *codes, uint64_t window_ns);

/**
 * jit_codes_find() - the piece that had an address when a sample was taken
 * @window_ns: the sample was taken between @window_ns
 * @until_ns:  and @until_ns
 * @doubtful:  out: another piece had it in that time, too
 *
 * Of several, the piece that was there for most of the time is returned; of
 * those without times, the newest. O(log n).
 *
 * Return: valid until the next call of another function; NULL there is none.
 */
struct jit_code *jit_codes_find(struct jit_codes *codes, uint64_t address, uint64_t window_ns,
				uint64_t until_ns, bool *doubtful);

/**
 * jit_codes_alone() - whether no other piece has had any of its addresses
 * @code:      as jit_codes_find() gave it
 * @window_ns: likewise
 *
 * What was replaced is not. O(log n).
 */
bool jit_codes_alone(const struct jit_codes *codes, const struct jit_code *code,
		     uint64_t window_ns);

#endif
