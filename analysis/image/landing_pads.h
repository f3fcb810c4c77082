/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Landing pads of exceptions, by frame, from the call-site tables for unwinders (.gcc_except_table,
 * the "LSDA" of the Itanium C++ ABI). The ABI hardly describes their layout: see libstdc++'s
 * unwind-pe.h and eh_personality.cc, or LLVM's "Exception Handling Tables".
 *
 * Nothing in the file is trusted: an unreadable table has no landing pads.
 */
#ifndef DCPI_LANDING_PADS_H
#define DCPI_LANDING_PADS_H

#include "analysis/image/unwind_ranges.h"

/**
 * struct landing_pads - none if zero-initialised
 * @frames: frames with tables, by address
 * @data:   @bytes bytes of tables, the first at @address
 */
struct landing_pads {
	struct unwind_range *frames;
	size_t frame_count;
	const uint8_t *data;
	size_t bytes;
	uint64_t address;
	size_t word_bytes;
};

/**
 * landing_pads_init() - find the tables of a file
 * @file:   owned by the caller; must stay open
 * @ranges: @count frames of the file, by address; frames with tables are copied
 * @pads:   out; freed by landing_pads_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int landing_pads_init(struct landing_pads *pads, const struct elf_file *file,
		      const struct unwind_range *ranges, size_t count);

void landing_pads_deinit(struct landing_pads *pads);

/**
 * landing_pads_visit() - visit the landing pads of frames that begin in [@start, @end)
 * @visit: called for each address, some more than once. They may be anywhere: the table of a
 *         split-off part often has the landing pads of the whole procedure
 *
 * Reads at most a million call sites, more than any procedure has, because all frames of a hostile
 * file may share one table.
 */
void landing_pads_visit(const struct landing_pads *pads, uint64_t start, uint64_t end,
			void (*visit)(void *context, uint64_t address), void *context);

#endif
