/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file that a rewritten program counts in, and what the rewriter tells the code that
 * runs inside the program. One source for both sides: no libc, fixed widths.
 *
 * The file is a header page and one block of counters for each thread, mapped shared from
 * the first count on, so that nothing is lost however the program ends. Counts of an
 * image are the sums over all blocks.
 */
#ifndef DCPI_INSTRUMENT_PROFILE_LAYOUT_H
#define DCPI_INSTRUMENT_PROFILE_LAYOUT_H

#include <stdint.h>

#define PROFILE_LAYOUT_MAGIC UINT64_C(0x3130786970636400) /* "\0dcpix01" */
#define PROFILE_LAYOUT_VERSION 1
#define PROFILE_LAYOUT_PAGE 4096
/* A word that is so is in order: a thread's, and the process'. */
#define PROFILE_LAYOUT_READY 0x64637069U

/* Threads that have a block of their own at the same time; more share the last one. */
#define PROFILE_LAYOUT_BLOCKS 512

/**
 * struct profile_layout_header - the first page
 * @image:   the rewriter's number for the file (its old build-id and what was done)
 * @counters: in a block
 * @block_bytes: from one block to the next
 * @blocks:  that have been used, or would have been
 * @shared:  threads that had to share a block: their counts may be too low
 * @process: id
 * @owners:  thread ids
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
	uint32_t owners[PROFILE_LAYOUT_BLOCKS];
};

#define PROFILE_LAYOUT_PATH_BYTES 1024

/**
 * struct profile_layout_state - in the program's memory, filled in by the rewriter
 * @slot:    of the thread's word, relative to the thread pointer
 * @guard:   the process' word, relative to this; a page of its own, zero at first
 * @spare:   a block for when there can be no file, likewise
 * @path:    of the file, without the process' number; DCPIX_OUT says otherwise
 * @region:  where the file is mapped
 */
struct profile_layout_state {
	uint64_t image;
	uint64_t counters;
	uint64_t block_bytes;
	int64_t slot;
	int64_t guard;
	int64_t spare;
	uint64_t region;
	uint64_t region_blocks;
	char path[PROFILE_LAYOUT_PATH_BYTES];
};

#endif
