/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where exceptions lead to: the landing pads of a file's frames, out of the call-site tables
 * that compilers leave for unwinders (.gcc_except_table; "LSDA" of the Itanium C++ ABI,
 * which is all but silent about its layout: see libstdc++'s unwind-pe.h and eh_personality.cc,
 * or LLVM's "Exception Handling Tables").
 *
 * Nothing in the file is trusted: what can't be read has no landing pads.
 */
#ifndef DCPI_LANDING_PADS_H
#define DCPI_LANDING_PADS_H

#include "analysis/image/unwind_ranges.h"

/**
 * struct landing_pads - zero-initialised has none
 * @frames: those that have tables, by address
 * @data:   the tables; @bytes of them, the first at @address
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
 * landing_pads_init() - of a file
 * @file:   stays the caller's, and open
 * @ranges: @count of its frames, by address; those that are needed are copied
 * @pads:   out; freed by landing_pads_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int landing_pads_init(struct landing_pads *pads, const struct elf_file *file,
		      const struct unwind_range *ranges, size_t count);

void landing_pads_deinit(struct landing_pads *pads);

/**
 * landing_pads_visit() - those of the frames that begin in [@start, @end)
 * @visit: called for each, some more than once; they may be anywhere: a part that was split off
 *         often has those of the whole procedure
 *
 * Looks at a million calls at most: more than a procedure has, but frames of hostile files may
 * all share one table.
 */
void landing_pads_visit(const struct landing_pads *pads, uint64_t start, uint64_t end,
			void (*visit)(void *context, uint64_t address), void *context);

#endif
