/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names for the stubs of the procedure linkage table: a stub jumps through a
 * slot of the global offset table, and the relocation of that slot names the
 * procedure. x86-64 and AArch64.
 */
#ifndef DCPI_PLT_NAMES_H
#define DCPI_PLT_NAMES_H

#include "analysis/image/elf_file.h"

struct name_pool;

/** struct plt_stub - one stub. */
struct plt_stub {
	uint64_t address; /* ELF virtual address */
	uint64_t bytes;
	const char *name; /* "memcpy@plt", in the pool */
};

/**
 * plt_names_read() - find the stubs with a known target
 * @ret:   out: malloc'd, in no particular order
 * @count: out
 *
 * Return: 0 or -ENOMEM.
 */
int plt_names_read(struct plt_stub **ret, size_t *count, const struct elf_file *file,
		   struct name_pool *pool);

#endif
