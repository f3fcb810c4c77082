/* SPDX-License-Identifier: GPL-2.0-only */
/* What a procedure that is copied has around it. */
#ifndef DCPI_INSTRUMENT_SURROUNDINGS_H
#define DCPI_INSTRUMENT_SURROUNDINGS_H

#include "analysis/image/image_code.h"
#include "instrument/elf/elf_image.h"

/** surroundings_forks() - whether a call may come back in another process, too. */
bool surroundings_forks(struct image_code *code, const struct insn *call);

/** surroundings_padding() - bytes from an address on that nobody runs; fewer than 16. */
size_t surroundings_padding(const struct image_code *code, const struct elf_image *image,
			    uint64_t address);

#endif
