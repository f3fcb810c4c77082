/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Procedures of Go programs from the table that Go's runtime uses (pclntab), which stripped
 * programs still have. Formats of Go 1.2, 1.16, 1.18 and 1.20 ($GOROOT/src/debug/gosym/pclntab.go
 * reads the same). Little-endian files only.
 */
#ifndef DCPI_GO_NAMES_H
#define DCPI_GO_NAMES_H

#include "analysis/image/elf_file.h"

/**
 * go_names_visit() - visit the procedures of the table
 * @visit: @name is valid while the file is open. A result other than 0 ends the iteration
 *
 * Entries that refer outside of the table are skipped.
 *
 * Return: 0, also if there is no such table; -ENOMEM; else the result of @visit.
 */
int go_names_visit(const struct elf_file *file,
		   int (*visit)(void *context, uint64_t address, uint64_t bytes, const char *name),
		   void *context);

#endif
