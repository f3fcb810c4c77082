/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which piece of a process' JIT code is at which address, and since when.
 *
 * Memory of code is reused: a piece that overlaps older ones replaces them as a
 * whole. Samples are looked up some time after they were taken, so replaced
 * pieces are kept until no sample of their time can follow.
 *
 * A perf map has no times. A piece that is new in it appeared between the
 * previous read and this one: @since_ns and @seen_ns are the times of these two
 * reads. In a jitdump both are the time of the record.
 */
#ifndef DCPI_JIT_CODE_H
#define DCPI_JIT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct jit_code - a piece of code
 * @start, @bytes: addresses
 * @since_ns:      it was not there before (CLOCK_MONOTONIC); 0: not known
 * @seen_ns:       it was there by then; at least @since_ns
 * @name:          jit_codes_add(): copied, NULL if the user knows it by @name_hash;
 *                 else owned by the list, not terminated
 * @name_hash:     the same for the same names
 * @code_at:       where the code is in its file; 0: the file has names only
 * @slot:          for the user; 0 at first
 * @version:       for the user; 0 at first
 * @name_bytes:    length of the name
 * @file:          for the user: which file
 * @pass:          for the user: see jit_codes_purge()
 * @at_most:       it has so many bytes at most: where another begins it has ended
 * @by_offset:     for the user: whether offsets in the code mean something
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
	uint8_t file;
	uint8_t pass;
	bool at_most;
	bool by_offset;
};

/**
 * struct jit_gone - a piece that was replaced or removed
 * @from_ns: it was there up to then at least
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
 * @codes:      sorted, disjoint; from @settled on: added since, in order of time
 * @gone:       sorted by address after jit_codes_settle()
 * @name_bytes: memory of all names
 * @clock:      additions so far
 * @evicted:    pieces that jit_codes_evict() dropped, all between @evicted_start
 *              and @evicted_end
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

/** jit_codes_count() - pieces held, including replaced ones. */
size_t jit_codes_count(const struct jit_codes *codes);

/** jit_codes_bytes() - memory in use, including names. */
size_t jit_codes_bytes(const struct jit_codes *codes);

/** jit_codes_add() - add a piece, later than all before. Return: 0 or -ENOMEM. */
int jit_codes_add(struct jit_codes *codes, const struct jit_code *code);

/**
 * jit_codes_again() - a file lists a piece again
 *
 * The settled piece with the start, length, name and file of @code, if there is one, belongs to
 * the pass of @code and counts as later than all before. O(log n).
 *
 * Return: whether there is one; else it must be added.
 */
bool jit_codes_again(struct jit_codes *codes, const struct jit_code *code);

/**
 * jit_codes_move() - the piece that begins at @from begins at @to from now on
 *
 * Return: 0; -ENOENT if there is none; -ENOMEM.
 */
int jit_codes_move(struct jit_codes *codes, uint64_t from, uint64_t to, uint64_t time_ns);

/**
 * jit_codes_settle() - put additions in their place
 * @window_ns: no sample older than this will be looked up
 *
 * O(n + k log k) for k additions. Must be called before jit_codes_find().
 *
 * Return: whether a piece replaced one with another name or other code.
 */
bool jit_codes_settle(struct jit_codes *codes, uint64_t window_ns);

/**
 * jit_codes_purge() - remove the settled pieces of a file that are not of a pass
 * @since_ns: they were there up to then at least
 * @seen_ns:  they were gone by then
 *
 * Return: whether there were any.
 */
bool jit_codes_purge(struct jit_codes *codes, uint8_t file, uint8_t pass, uint64_t since_ns,
		     uint64_t seen_ns, uint64_t window_ns);

/**
 * jit_codes_evict() - drop half of the pieces to save memory
 *
 * The pieces that have gone unsampled longest go first. A sampled piece counts as younger than
 * the million pieces added after its last sample. Replaced pieces all go. Settled lists only.
 * O(n).
 */
void jit_codes_evict(struct jit_codes *codes);

/** jit_codes_skip() - note a piece that is not added to save memory, as if it was evicted. */
void jit_codes_skip(struct jit_codes *codes, uint64_t start, uint64_t bytes);

/** jit_codes_is_free() - whether no settled piece has any address of a range. O(log n). */
bool jit_codes_is_free(const struct jit_codes *codes, uint64_t start, uint64_t bytes);

/** jit_codes_lacks() - whether a piece at an address may have been evicted. */
bool jit_codes_lacks(const struct jit_codes *codes, uint64_t address);

/**
 * jit_codes_find() - the piece that had an address when a sample was taken
 * @window_ns: the sample was taken between @window_ns
 * @until_ns:  and @until_ns
 * @ambiguous: out: pieces with other names had the address in that time, and none of
 *             them certainly for JIT_CERTAIN_PERCENT of it
 *
 * Returns the piece that was certainly there for most of the time. A sample of the
 * piece makes it young for jit_codes_evict(). O(log n) plus the replaced pieces at the address.
 *
 * Return: valid until the next call of another function; NULL if there is none.
 */
struct jit_code *jit_codes_find(struct jit_codes *codes, uint64_t address, uint64_t window_ns,
				uint64_t until_ns, bool *ambiguous);

#define JIT_CERTAIN_PERCENT 80

/**
 * jit_codes_alone() - whether no other piece has had any of its addresses
 * @code:      as jit_codes_find() returned it
 * @window_ns: as for jit_codes_find()
 *
 * False for a replaced piece. O(log n).
 */
bool jit_codes_alone(const struct jit_codes *codes, const struct jit_code *code,
		     uint64_t window_ns);

#endif
