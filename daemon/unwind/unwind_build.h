/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compiles the call frame information of an ELF file into an unwind table.
 *
 * .eh_frame comes first; .debug_frame describes only code that .eh_frame does not. Where the
 * descriptions of two ranges overlap, the range that begins later applies, as in the binary search
 * of other unwinders.
 *
 * Nothing calls the code at the ELF entry point. If it has no call frame information (as in the
 * dynamic linker), it is an outermost frame, up to the next description and at most
 * UNWIND_ENTRY_BYTES.
 */
#ifndef DCPI_UNWIND_BUILD_H
#define DCPI_UNWIND_BUILD_H

#include "daemon/unwind/unwind_elf.h"
#include "daemon/unwind/unwind_table.h"

#define UNWIND_ENTRY_BYTES 128

/**
 * unwind_build() - compile a table
 * @ret: out: freed by unwind_table_destroy()
 *
 * O(bytes of the sections, and descriptions log descriptions).
 *
 * Return: 0; -ENOENT: the file has no call frame information; -EFBIG: too much of it; the errors of
 * unwind_elf_read(); -ENOMEM.
 */
int unwind_build(struct unwind_table **ret, const struct unwind_file *file);

/**
 * unwind_build_pages() - compile some pages of a table, as unwind_build()
 * @wanted: NULL: all of them
 *
 * The other pages are missing, and rules have other numbers than in the complete table. Takes
 * less time than unwind_build(), because most descriptions are found but not interpreted.
 */
int unwind_build_pages(struct unwind_table **ret, const struct unwind_file *file,
		       const struct unwind_wanted *wanted);

#endif
