/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of the versions of a process' address space: the kernel's exec count as far as
 * samples carry it, or ones of the image map's own. Both come round.
 */
#ifndef DCPI_GENERATION_H
#define DCPI_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "kmod/uapi/dcpi_uapi.h"

/* Own generations are 1 .. GENERATION_OWN_MAX; 0 is "not known", what follows them "lost". */
#define GENERATION_OWN_MAX (DCPI_GENERATION_MAX - 1)
/* Of the kernel's: it was never told; it cannot be told. */
#define GENERATION_ANY UINT32_MAX
#define GENERATION_NONE (UINT32_MAX - 1)

/** generation_next() - the one after; ANY and NONE stay. @own: they are the map's */
uint32_t generation_next(uint32_t generation, bool own);

/** struct generation_span - some that came one after the other; zeroed: none */
struct generation_span {
	bool any;
	uint32_t first;
	uint32_t last;
	uint32_t count;
};

/** generation_span_add() - a later one than those that it has; NONE is left out */
void generation_span_add(struct generation_span *span, uint32_t generation, bool own);

/** generation_span_has() - whether a sample's generation may be one of them */
bool generation_span_has(const struct generation_span *span, uint32_t generation, bool own);

#endif
