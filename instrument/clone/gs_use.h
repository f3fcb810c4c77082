/* SPDX-License-Identifier: GPL-2.0-only */
/* Find programs that use %gs, which rewritten programs need for their counters. */
#ifndef DCPI_INSTRUMENT_GS_USE_H
#define DCPI_INSTRUMENT_GS_USE_H

#include <stdbool.h>

#include "analysis/graph/cfg.h"
#include "analysis/image/image_code.h"
#include "instrument/elf/elf_image.h"

/**
 * gs_use_find() - find a use of %gs in a procedure
 *
 * Uses are memory operands and changes of the base. The latter are wrgsbase, a move to %gs, and the
 * system call arch_prctl with ARCH_SET_GS. For a system call the procedure must contain both
 * numbers as constants; a call of arch_prctl() replaces the first one. Computed numbers are not
 * recognized.
 *
 * Return: true if there is a use.
 */
bool gs_use_find(const struct elf_image *image, const struct image_code *code,
		 const struct cfg *cfg);

#endif
