/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bounds of procedures from unwinding information (.eh_frame), which stripped files still have.
 * Little-endian files only.
 */
#ifndef DCPI_UNWIND_RANGES_H
#define DCPI_UNWIND_RANGES_H

#include <stdbool.h>

#include "analysis/image/elf_file.h"

/**
 * struct unwind_range - the code of one frame description (FDE)
 * @address:  ELF virtual address
 * @bytes:    > 0
 * @handlers: address of its table of exception handlers (LSDA); 0: none
 * @inside:   its first byte is already inside a frame: it is not the beginning of a procedure but a
 *            part that a compiler has split off
 */
struct unwind_range {
	uint64_t address;
	uint64_t bytes;
	uint64_t handlers;
	bool inside;
};

/**
 * unwind_ranges_read() - read all ranges of a file
 * @ret:   out: malloc'd, by address; they may overlap in hostile files
 * @count: out: 0 if the file has no unwinding information. Entries after a damaged one are omitted.
 *
 * Return: 0 or -ENOMEM.
 */
int unwind_ranges_read(struct unwind_range **ret, size_t *count, const struct elf_file *file);

#endif
