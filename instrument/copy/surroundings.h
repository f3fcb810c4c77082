/* SPDX-License-Identifier: GPL-2.0-only */
/* Properties of the code around a procedure that is cloned. */
#ifndef DCPI_INSTRUMENT_SURROUNDINGS_H
#define DCPI_INSTRUMENT_SURROUNDINGS_H

#include "analysis/image/image_code.h"
#include "instrument/elf/elf_image.h"

/** surroundings_forks() - return true if a call may also return in another process. */
bool surroundings_forks(struct image_code *code, const struct insn *call);

/** surroundings_padding() - return the number of bytes from an address on that are never executed;
 * fewer than 16. */
size_t surroundings_padding(const struct image_code *code, const struct elf_image *image,
			    uint64_t address);

#endif
