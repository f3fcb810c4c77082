/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The vDSO that the kernel maps into 64-bit processes, read from this process's own address space,
 * because it is not in any file.
 */
#ifndef DCPI_VDSO_H
#define DCPI_VDSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loader-hook/build_id.h"

/** vdso_build_id() - Return: 0; -ENOENT: no vDSO, or it has no build-id */
int vdso_build_id(struct build_id *ret);

/** vdso_symbol_fn - called for each function; @offset: from the vDSO's ELF header */
typedef void (*vdso_symbol_fn)(void *context, const char *name, uint64_t offset, uint64_t bytes,
			       bool global);

/**
 * vdso_symbols() - visit its functions, in no particular order
 *
 * Return: 0; -ENOENT: no vDSO; -ENOEXEC: it is malformed; -ENOMEM.
 */
int vdso_symbols(vdso_symbol_fn visit, void *context);

/**
 * vdso_file() - return the ELF file that the vDSO is, with all patches for this machine
 * @bytes: out: its length
 *
 * Return: always valid; NULL: no vDSO.
 */
const uint8_t *vdso_file(size_t *bytes);

#endif
