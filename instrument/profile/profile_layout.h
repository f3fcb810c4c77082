/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file in which a rewritten program counts, and the data that the rewriter passes to the code
 * that runs inside the program. The layout is shared by both sides: no libc, fixed widths.
 *
 * The file is a header page and one block for each thread, mapped shared from the first count on,
 * so that nothing is lost if the program ends abnormally. A block begins with the mode's area
 * (mode.h), if it has one. The area of modes with two clones of procedures begins with struct
 * profile_layout_switch. The remaining block consists of words of 8 bytes. Counts of an image are
 * the sums over all blocks.
 *
 * In the program, the base of %gs is the address of the thread's window. That is address space in
 * which each rewritten image of the process has a range: private memory of the mode, if it has
 * some, and the thread's block of the image's file.
 */
#ifndef DCPI_INSTRUMENT_PROFILE_LAYOUT_H
#define DCPI_INSTRUMENT_PROFILE_LAYOUT_H

#include <stdint.h>

#define PROFILE_LAYOUT_MAGIC UINT64_C(0x3130786970636400) /* "\0dcpix01" */
#define PROFILE_LAYOUT_VERSION 4
#define PROFILE_LAYOUT_PAGE 4096
/* The data that the images of a process share is initialized. */
#define PROFILE_LAYOUT_READY 0x64637069U
/*
 * Values of a thread's word and of the process's word when both are initialized. Only for this pair
 * of values does the difference overflow, so one instruction compares both. The thread's word of an
 * executable is UNKNOWN at first. It is 0 if the loader has not initialized it yet and runs an
 * IFUNC resolver; the process's word is 0 then.
 */
#define PROFILE_LAYOUT_THREAD_READY 0x80000000U
#define PROFILE_LAYOUT_PROCESS_READY 1U
#define PROFILE_LAYOUT_UNKNOWN 1U
/*
 * Offset from the thread's word to its checks: 32 bits that count down to the next burst, and are
 * negative in a burst, and at first if the mode has bursts. Some modes have several counters, each
 * counted down by separate checks (clone_switch.c); then only the counter that started a burst is
 * negative in it. After indirect jumps, the first counter is examined. If a burst continues there,
 * the counter is set to the complement of its value plus PROFILE_LAYOUT_CHECKS_KEPT. A counter that
 * was counted down is never that far below zero.
 */
#define PROFILE_LAYOUT_SLOT_CHECKS 4
#define PROFILE_LAYOUT_COUNTERS 4
#define PROFILE_LAYOUT_CHECKS_KEPT 16

/*
 * Maximum number of threads with separate blocks at the same time; more threads share the last one.
 * If blocks are large, the number is limited by the total size below, but at least 16. The file
 * begins with one block, or with all blocks that fit into the size below. It grows as threads need
 * blocks. Blocks take no disk space before they are used.
 */
#define PROFILE_LAYOUT_BLOCKS 512
#define PROFILE_LAYOUT_FILE_BYTES (UINT64_C(1) << 32)
#define PROFILE_LAYOUT_FIRST_BYTES (UINT64_C(1) << 22)

/** enum profile_layout_mode - kind of the recorded data, and of the runtime's support */
enum profile_layout_mode {
	PROFILE_LAYOUT_COUNTS,	  /* no support */
	PROFILE_LAYOUT_PATHS,	  /* no support, but private memory */
	PROFILE_LAYOUT_CALLS,	  /* call contexts, of both kinds: call_layout.h */
	PROFILE_LAYOUT_BURSTS,	  /* no support */
	PROFILE_LAYOUT_VARIATION, /* at the end of a path: variation_layout.h */
};

/**
 * struct profile_layout_header - the first page
 * @image:   number of the rewriting (from the old build-id and the kind of rewriting)
 * @counters: words in a block
 * @block_bytes: distance between blocks
 * @area_bytes: size of the area before a block's words
 * @mode:    enum profile_layout_mode
 * @blocks:  number of blocks up to the last one used
 * @shared:  threads that had to share a block, or had none in the file: counts may be too low
 * @process: process id
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
 * A window: a page of the runtime, the executable's range, then those of shared objects. Offsets
 * that code adds to the base of %gs are never negative and have 32 bits.
 */
#define PROFILE_LAYOUT_WINDOW_BYTES (UINT64_C(1) << 31)
#define PROFILE_LAYOUT_RANGE PROFILE_LAYOUT_PAGE
#define PROFILE_LAYOUT_SHARED_RANGES (UINT64_C(1) << 30)

/**
 * struct profile_layout_switch - counters that switch between two clones (clone_switch.c)
 * @checks:  initial value for a thread (PROFILE_LAYOUT_SLOT_CHECKS)
 * @records: counts down to the end of the burst; 0 between two bursts, except for clones that
 *           return into one
 * @burst:   number of the current or next burst; the first one is 1
 * @place:   position between two bursts for a thread that gets the block of an ended one
 */
struct profile_layout_switch {
	int32_t checks;
	int32_t records;
	uint32_t burst;
	uint32_t place;
};

#define PROFILE_LAYOUT_PATH_BYTES 1024
#define PROFILE_LAYOUT_NAME_BYTES 64
#define PROFILE_LAYOUT_PARAMETERS 8
/* Offsets of the runtime's entry points in its code. */
#define PROFILE_LAYOUT_ENTER 0
#define PROFILE_LAYOUT_SLOW 16

/**
 * struct profile_layout_state - in the program's memory, filled in by the rewriter
 * @slot:    offset of the thread's word from the thread pointer; 0: the loader, which fills it in
 *           for shared objects, has not done so yet
 * @guard:   offset of the process's word from this structure; on a separate page, zero at first
 * @head_bytes: size of a thread's private memory, whole pages. In the child of a fork it is
 *              unchanged, at the same address, while the block after it is a new one
 * @parameters: defined by the mode
 * @bursts:  initial values of a thread, if the mode has them: @burst is not 0
 * @range:   offset of the image's range in all windows, as used by its code. For shared objects it
 *           is probably free; otherwise the runtime relocates the code when they begin
 * @code, @code_bytes: offset from this structure, and size, of the code to relocate, whole pages.
 * @sites, @sites_bytes: the same for the list of places to relocate. The list has the distances
 *           between 32-bit operands, seven bits per byte, lowest first, with 128 on all but the
 *           last
 * @name:    name of the image in the names of files; empty for executables
 * @secure:  1: a process with AT_SECURE has a file, too
 * @path:    path of the file, without the process id; DCPIX_OUT overrides it
 * @region:  address where the file is mapped
 * @region_blocks: number of blocks that fit there
 * @blocks_max: number of blocks that the file can have: fewer if it can no longer grow
 * @file_blocks: number of blocks that the file has so far
 * @file_suffix: number at the end of the file's name; 0: none
 * @file_inode, @file_device: identity of the file; 0: no file
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
	struct profile_layout_switch bursts;
	uint64_t range;
	int64_t code;
	uint64_t code_bytes;
	int64_t sites;
	uint64_t sites_bytes;
	uint64_t secure;
	uint64_t region;
	uint64_t region_blocks;
	uint64_t blocks_max;
	uint64_t file_blocks;
	uint64_t file_suffix;
	uint64_t file_inode;
	uint64_t file_device;
	char name[PROFILE_LAYOUT_NAME_BYTES];
	char path[PROFILE_LAYOUT_PATH_BYTES];
};

/** profile_layout_range_bytes() - return the size of an image's range */
static inline uint64_t profile_layout_range_bytes(const struct profile_layout_state *state)
{
	return state->head_bytes + state->block_bytes;
}

#endif
