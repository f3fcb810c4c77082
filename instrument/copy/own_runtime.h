/* SPDX-License-Identifier: GPL-2.0-only */
/* Runtimes that programs bring along and that need their code to be where it was, as it was. */
#ifndef DCPI_INSTRUMENT_OWN_RUNTIME_H
#define DCPI_INSTRUMENT_OWN_RUNTIME_H

#include "analysis/image/elf_file.h"

/** own_runtime_find() - Return: what is in the way, in words; NULL: nothing. */
const char *own_runtime_find(const struct elf_file *file);

#endif
