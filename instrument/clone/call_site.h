/* SPDX-License-Identifier: GPL-2.0-only */
/* Properties of the code around a procedure that is cloned. */
#ifndef DCPI_INSTRUMENT_CALL_SITE_H
#define DCPI_INSTRUMENT_CALL_SITE_H

#include "analysis/image/image_code.h"
#include "instrument/elf/elf_image.h"

/** call_site_forks() - return true if a call may also return in another process. */
bool call_site_forks(struct image_code *code, const struct insn *call);

/** call_site_padding() - return the number of bytes from an address on that are never executed;
 * fewer than 16. */
size_t call_site_padding(const struct image_code *code, const struct elf_image *image,
			 uint64_t address);

#endif
