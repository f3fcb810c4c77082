/* SPDX-License-Identifier: GPL-2.0-only */
/* Selects the frame descriptions that some pages of an unwind table need. */
#ifndef DCPI_UNWIND_SELECT_H
#define DCPI_UNWIND_SELECT_H

#include "daemon/unwind/unwind_frames.h"
#include "daemon/unwind/unwind_table.h"

/**
 * unwind_select() - remove frame descriptions that do not change the pages
 * @frames: sorted; out: those that begin in a page, and the last ones that begin before it
 *
 * O(descriptions + pages * log descriptions).
 *
 * Return: 0 or -ENOMEM.
 */
int unwind_select(struct unwind_frames *frames, const struct unwind_elf *elf,
		  const struct unwind_wanted *wanted);

#endif
