/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bounds of procedures as unwinding information tells them (.eh_frame):
 * what is left of them in a stripped file. Little-endian files only.
 */
#ifndef DCPI_UNWIND_RANGES_H
#define DCPI_UNWIND_RANGES_H

#include <stdbool.h>

#include "analysis/image/elf_file.h"

/**
 * struct unwind_range - the code one frame description (FDE) is about
 * @address: ELF virtual address
 * @bytes:   > 0
 * @handlers: address of its table of handlers of exceptions (LSDA); 0: it has none
 * @inside:  its first byte is inside a frame already: no procedure begins there, a
 *           compiler has split this off one
 */
struct unwind_range {
	uint64_t address;
	uint64_t bytes;
	uint64_t handlers;
	bool inside;
};

/**
 * unwind_ranges_read() - all of a file's ranges
 * @ret:   out: malloc'd, by address; hostile files may make them overlap
 * @count: out: 0 if the file has no unwinding information. What follows a
 *         damaged entry is left out.
 *
 * Return: 0 or -ENOMEM.
 */
int unwind_ranges_read(struct unwind_range **ret, size_t *count, const struct elf_file *file);

#endif
