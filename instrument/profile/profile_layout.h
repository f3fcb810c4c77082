/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file that a rewritten program counts in, and what the rewriter tells the code that
 * runs inside the program. One source for both sides: no libc, fixed widths.
 *
 * The file is a header page and one block for each thread, mapped shared from the first
 * count on, so that nothing is lost however the program ends. A block begins with the
 * mode's area (mode.h), if it has one; that of modes with two copies of procedures begins
 * with struct profile_layout_turns; the rest is words of 8 bytes. Counts of an image are
 * the sums over all blocks.
 *
 * In the program %gs' base is the address of the thread's window, address space in which
 * each rewritten image of the process has a range: private memory of the mode's, if it has
 * some, and the thread's block of the image's file.
 */
#ifndef DCPI_INSTRUMENT_PROFILE_LAYOUT_H
#define DCPI_INSTRUMENT_PROFILE_LAYOUT_H

#include <stdint.h>

#define PROFILE_LAYOUT_MAGIC UINT64_C(0x3130786970636400) /* "\0dcpix01" */
#define PROFILE_LAYOUT_VERSION 4
#define PROFILE_LAYOUT_PAGE 4096
/* What images of a process share is in order. */
#define PROFILE_LAYOUT_READY 0x64637069U
/*
 * A thread's word and the process' that are in order, which differ by as much as overflows:
 * nothing else that they are does, so that an instruction compares both. A thread's of an
 * executable is UNKNOWN at first, or 0, where the loader has not come to that yet and runs code
 * that chooses what functions are; the process' is 0.
 */
#define PROFILE_LAYOUT_THREAD_READY 0x80000000U
#define PROFILE_LAYOUT_PROCESS_READY 1U
#define PROFILE_LAYOUT_UNKNOWN 1U
/*
 * From the thread's word, its checks: 32 bits that count down to the next burst and are below
 * zero in it, and at first, if the mode has bursts. Of some modes there are several, each
 * counted by checks of its own (copier_turn.c): only the one that counted down to a burst is
 * below zero then. Where indirect jumps lead it is looked at the first one. If a burst goes on
 * there, that is the complement of what it was and _KEPT; what counted down is not that far below.
 */
#define PROFILE_LAYOUT_SLOT_CHECKS 4
#define PROFILE_LAYOUT_COUNTERS 4
#define PROFILE_LAYOUT_CHECKS_KEPT 16

/*
 * Threads that have a block of their own at the same time; more share the last one. If blocks
 * are large only as many as are so much together, but 16 at least; none takes room on a disk
 * before it is used.
 */
#define PROFILE_LAYOUT_BLOCKS 512
#define PROFILE_LAYOUT_FILE_BYTES (UINT64_C(1) << 32)

/** enum profile_layout_mode - what is recorded, and who in the runtime helps. */
enum profile_layout_mode {
	PROFILE_LAYOUT_COUNTS,	  /* nobody */
	PROFILE_LAYOUT_PATHS,	  /* nobody, but there is private memory */
	PROFILE_LAYOUT_CALLS,	  /* contexts of calls, of both kinds: call_layout.h */
	PROFILE_LAYOUT_BURSTS,	  /* nobody */
	PROFILE_LAYOUT_VARIATION, /* where a path ends: variation_layout.h */
};

/**
 * struct profile_layout_header - the first page
 * @image:   the rewriter's number for the file (its old build-id and what was done)
 * @counters: words in a block
 * @block_bytes: from one block to the next
 * @area_bytes: before a block's words
 * @mode:    enum profile_layout_mode
 * @blocks:  up to the last one that was used
 * @shared:  threads that had to share a block, or had none in the file: counts may be too low
 * @process: id
 * @owners:  thread ids; 0: no thread had the block
 */
struct profile_layout_header {
	uint64_t magic;
	uint32_t version;
	uint32_t process;
	uint64_t image;
	uint64_t counters;
	uint64_t block_bytes;
	uint32_t blocks;
	uint32_t shared;
	uint64_t area_bytes;
	uint32_t mode;
	uint32_t reserved;
	uint32_t owners[PROFILE_LAYOUT_BLOCKS];
};

/*
 * A window: a page of the runtime's own, the executable's range, then those of shared
 * objects. What code adds to %gs' base is never negative and has 32 bits.
 */
#define PROFILE_LAYOUT_WINDOW_BYTES (UINT64_C(1) << 31)
#define PROFILE_LAYOUT_RANGE PROFILE_LAYOUT_PAGE
#define PROFILE_LAYOUT_SHARED_RANGES (UINT64_C(1) << 30)

/**
 * struct profile_layout_turns - when which of two copies runs (copier_turn.c)
 * @checks:  that a thread begins with (PROFILE_LAYOUT_SLOT_CHECKS)
 * @records: counts down to the end of the burst; 0 between two, for all but copies that return
 *           into one
 * @burst:   number of the burst, or of the next one; the first one is 1
 * @place:   where between two bursts a thread begins that has the block of an ended one
 */
struct profile_layout_turns {
	int32_t checks;
	int32_t records;
	uint32_t burst;
	uint32_t place;
};

#define PROFILE_LAYOUT_PATH_BYTES 1024
#define PROFILE_LAYOUT_NAME_BYTES 64
#define PROFILE_LAYOUT_PARAMETERS 8
/* Where the runtime is entered, in its code. */
#define PROFILE_LAYOUT_ENTER 0
#define PROFILE_LAYOUT_SLOW 16

/**
 * struct profile_layout_state - in the program's memory, filled in by the rewriter
 * @slot:    of the thread's word, relative to the thread pointer; 0: the loader, who fills
 *           it in for shared objects, has not done so yet
 * @guard:   the process' word, relative to this; a page of its own, zero at first
 * @head_bytes: of a thread's private memory, whole pages. In the child of a fork it is as
 *           it was, at the same address, while the block behind it is a new one
 * @parameters: the mode's own
 * @turns: what a thread's begin with, if the mode has them: @burst is not 0
 * @range:   of the image in all windows, as its code has it: of shared objects where there
 *           most likely is room, else the runtime moves them when they begin
 * @code, @code_bytes: relative to this, whole pages: what it changes then
 * @sites, @sites_bytes: likewise, where: distances of operands of 32 bits from the one
 *           before, seven bits a byte, lowest first, with 128 on all but the last
 * @name:    of the image, in the names of files; of executables empty
 * @secure:  1: a process with AT_SECURE has a file, too
 * @path:    of the file, without the process' number; DCPIX_OUT says otherwise
 * @region:  where the file is mapped
 */
struct profile_layout_state {
	uint64_t image;
	uint64_t counters;
	uint64_t block_bytes;
	int64_t slot;
	int64_t guard;
	uint64_t head_bytes;
	uint64_t area_bytes;
	uint64_t mode;
	uint64_t parameters[PROFILE_LAYOUT_PARAMETERS];
	struct profile_layout_turns turns;
	uint64_t range;
	int64_t code;
	uint64_t code_bytes;
	int64_t sites;
	uint64_t sites_bytes;
	uint64_t secure;
	uint64_t region;
	uint64_t region_blocks;
	char name[PROFILE_LAYOUT_NAME_BYTES];
	char path[PROFILE_LAYOUT_PATH_BYTES];
};

/** profile_layout_range_bytes() - of an image's range. */
static inline uint64_t profile_layout_range_bytes(const struct profile_layout_state *state)
{
	return state->head_bytes + state->block_bytes;
}

#endif
