/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Procedures of Go programs by the table that Go's runtime uses (pclntab), which is left in
 * stripped programs. Formats of Go 1.2, 1.16, 1.18 and 1.20 ($GOROOT/src/debug/gosym/pclntab.go
 * reads the same). Little-endian files only.
 */
#ifndef DCPI_GO_NAMES_H
#define DCPI_GO_NAMES_H

#include "analysis/image/elf_file.h"

/**
 * go_names_visit() - walk over the procedures of the table
 * @visit: @name is valid while the file is open. Ends the walk by a result other than 0
 *
 * Entries that lead outside the table are left out.
 *
 * Return: 0, also if there is no such table; else what @visit returned.
 */
int go_names_visit(const struct elf_file *file,
		   int (*visit)(void *context, uint64_t address, uint64_t bytes, const char *name),
		   void *context);

#endif
