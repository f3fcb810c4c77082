/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that use %gs, where rewritten programs have their counters. */
#ifndef DCPI_INSTRUMENT_GS_USE_H
#define DCPI_INSTRUMENT_GS_USE_H

#include <stdbool.h>

#include "analysis/graph/cfg.h"
#include "analysis/image/image_code.h"
#include "instrument/elf/elf_image.h"

/**
 * gs_use_find() - look for a use of %gs in a procedure
 *
 * Uses are memory operands and changes of the base. The latter are wrgsbase, a move to %gs, and the
 * system call arch_prctl with ARCH_SET_GS. The procedure must have both numbers of the call as
 * constants. A call of arch_prctl() stands for the first number. Computed numbers are not
 * recognized.
 *
 * Return: true if there is one.
 */
bool gs_use_find(const struct elf_image *image, const struct image_code *code,
		 const struct cfg *cfg);

#endif
