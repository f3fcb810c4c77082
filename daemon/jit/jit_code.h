/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pieces of a process's JIT code: addresses, names and times.
 *
 * Memory of code is reused: a piece that overlaps older ones replaces them completely. Samples are
 * looked up some time after they were taken, so replaced pieces are kept until no sample of their
 * time can follow.
 *
 * A perf map has no times. A piece that is new in it appeared between the previous read and this
 * one: @since_ns and @seen_ns are the times of these two reads. In a jitdump both are the time of
 * the record.
 */
#ifndef DCPI_JIT_CODE_H
#define DCPI_JIT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct jit_code - a piece of code
 * @start, @bytes: range of addresses
 * @since_ns:      it was not there before (CLOCK_MONOTONIC); 0: unknown
 * @seen_ns:       it was there by then; at least @since_ns
 * @name:          jit_codes_add(): copied, NULL if the user identifies it by @name_hash; otherwise
 *                 owned by the list, not terminated
 * @name_hash:     equal for equal names
 * @code_at:       offset of the code in its file; 0: the file contains only names
 * @slot:          for the user; initially 0
 * @version:       for the user; initially 0
 * @name_bytes:    length of the name
 * @file:          for the user: index of its file
 * @pass:          for the user: see jit_codes_purge()
 * @search:        for the user: see jit_codes_is_free()
 * @at_most:       @bytes is an upper bound: the piece ends where another one begins
 * @by_offset:     for the user: offsets in the code are meaningful
 * @added:         private: order of additions
 * @used:          private: order of additions and samples
 */
struct jit_code {
	uint64_t start;
	uint64_t since_ns;
	uint64_t seen_ns;
	uint64_t name_hash;
	char *name;
	uint64_t code_at;
	uint64_t slot;
	uint32_t version;
	uint32_t bytes;
	uint32_t added;
	uint32_t used;
	uint16_t name_bytes;
	uint16_t search;
	uint8_t file;
	uint8_t pass;
	bool at_most;
	bool by_offset;
};

/**
 * struct jit_gone - a piece that was replaced or removed
 * @from_ns: it was there at least until then
 * @by_ns:   it was gone by then
 * @reach:   private: the highest end of this and all entries before it
 */
struct jit_gone {
	struct jit_code code;
	uint64_t from_ns;
	uint64_t by_ns;
	uint64_t reach;
};

/**
 * struct jit_codes - zero-initialised is empty; fields are private
 * @codes:      sorted, disjoint; from @settled on: additions since, in chronological order
 * @gone:       sorted by address after jit_codes_settle()
 * @name_bytes: memory of all names
 * @clock:      number of additions so far
 * @evicted:    number of pieces that jit_codes_evict() dropped, all between @evicted_start and
 *              @evicted_end
 * @forgot_ns:  replaced pieces that were gone by then were dropped early
 */
struct jit_codes {
	struct jit_code *codes;
	size_t count;
	size_t capacity;
	size_t settled;
	struct jit_gone *gone;
	size_t gone_count;
	size_t gone_capacity;
	size_t name_bytes;
	uint32_t clock;
	uint64_t evicted;
	uint64_t evicted_start;
	uint64_t evicted_end;
	uint64_t forgot_ns;
};

void jit_codes_deinit(struct jit_codes *codes);

/** jit_codes_count() - return the number of pieces, including replaced ones. */
size_t jit_codes_count(const struct jit_codes *codes);

/** jit_codes_bytes() - return the memory in use, including names. */
size_t jit_codes_bytes(const struct jit_codes *codes);

/** jit_codes_add() - add a piece, later than all others. Return: 0 or -ENOMEM. */
int jit_codes_add(struct jit_codes *codes, const struct jit_code *code);

/**
 * jit_codes_again() - a file lists a piece again
 *
 * If there is a settled piece with the start, length, name and file of @code, it now belongs to the
 * pass of @code and counts as later than all others. O(log n).
 *
 * Return: true if there is one; otherwise it must be added.
 */
bool jit_codes_again(struct jit_codes *codes, const struct jit_code *code);

/**
 * jit_codes_move() - move the piece at @from to @to, from now on
 *
 * Return: 0; -ENOENT if there is none; -ENOMEM.
 */
int jit_codes_move(struct jit_codes *codes, uint64_t from, uint64_t to, uint64_t time_ns);

/**
 * jit_codes_settle() - merge additions into the sorted list
 * @window_ns: no sample older than this will be looked up
 *
 * O(n + k log k) for k additions. Must be called before jit_codes_find().
 *
 * Return: true if a piece replaced one with another name or other code.
 */
bool jit_codes_settle(struct jit_codes *codes, uint64_t window_ns);

/**
 * jit_codes_purge() - remove the settled pieces of a file that do not belong to a pass
 * @since_ns: they were there at least until then
 * @seen_ns:  they were gone by then
 *
 * Return: true if there were any.
 */
bool jit_codes_purge(struct jit_codes *codes, uint8_t file, uint8_t pass, uint64_t since_ns,
		     uint64_t seen_ns, uint64_t window_ns);

/**
 * jit_codes_evict() - drop half of the pieces to save memory
 *
 * The pieces without samples for the longest time are dropped. A sampled piece counts as younger
 * than the million pieces added after its last sample. All replaced pieces are dropped. Requires a
 * settled list. O(n).
 */
void jit_codes_evict(struct jit_codes *codes);

/** jit_codes_skip() - record a piece that is not added to save memory, as if it was evicted. */
void jit_codes_skip(struct jit_codes *codes, uint64_t start, uint64_t bytes);

/**
 * jit_codes_is_free() - return true if no settled piece overlaps a range
 * @search: pieces with this number do not count; 0: all count
 *
 * O(log n) plus the pieces that do not count.
 */
bool jit_codes_is_free(const struct jit_codes *codes, uint64_t start, uint64_t bytes,
		       uint16_t search);

/** jit_codes_lacks() - return true if a piece at an address may have been evicted. */
bool jit_codes_lacks(const struct jit_codes *codes, uint64_t address);

/**
 * jit_codes_find() - return the piece at an address when a sample was taken
 * @window_ns: the sample was taken between @window_ns
 * @until_ns:  and @until_ns
 * @ambiguous: out: pieces with other names were at the address during that time, and none of them
 *             certainly for JIT_CERTAIN_PERCENT of it
 *
 * Returns the piece that was certainly there for most of the time, and marks it as sampled for
 * jit_codes_evict(). O(log n) plus the replaced pieces at the address.
 *
 * Return: valid until the next call of another function; NULL if there is none.
 */
struct jit_code *jit_codes_find(struct jit_codes *codes, uint64_t address, uint64_t window_ns,
				uint64_t until_ns, bool *ambiguous);

#define JIT_CERTAIN_PERCENT 80

/**
 * jit_codes_alone() - return true if no other piece has had any of its addresses
 * @code:      as jit_codes_find() returned it
 * @window_ns: as for jit_codes_find()
 *
 * Returns false for a replaced piece. O(log n).
 */
bool jit_codes_alone(const struct jit_codes *codes, const struct jit_code *code,
		     uint64_t window_ns);

#endif
