/* SPDX-License-Identifier: GPL-2.0-only */
/* Find runtimes in programs that require the program's code to stay unchanged at its address. */
#ifndef DCPI_INSTRUMENT_UNSUPPORTED_RUNTIME_H
#define DCPI_INSTRUMENT_UNSUPPORTED_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/image/elf_file.h"
#include "instrument/elf/elf_image.h"

/** unsupported_runtime_find() - Return: the reason, as text, against rewriting the program; NULL if
 * there is none. */
const char *unsupported_runtime_find(const struct elf_file *file);

/**
 * unsupported_runtime_is_fixed() - true if a runtime compares program counters with addresses in
 * the procedure at @address, so that the procedure must be executed where it is
 *
 * Known: the system call of musl that pthread_cancel() interrupts.
 */
bool unsupported_runtime_is_fixed(const struct elf_image *image, uint64_t address);

#endif
