/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generation numbers of the versions of a process's address space: either the kernel's exec count,
 * truncated to the bits in a sample, or numbers assigned by the image map. Both wrap around.
 */
#ifndef DCPI_GENERATION_H
#define DCPI_GENERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "kmod/uapi/dcpi_uapi.h"

/*
 * Own generations are 1 .. GENERATION_OWN_MAX; 0 means "unknown", and the number after them "lost".
 */
#define GENERATION_OWN_MAX (DCPI_GENERATION_MAX - 1)
/* Kernel generations that were never reported, or cannot be determined. */
#define GENERATION_ANY UINT32_MAX
#define GENERATION_NONE (UINT32_MAX - 1)

/**
 * generation_next() - return the next generation; ANY and NONE stay. @own: generations are the
 * map's
 */
uint32_t generation_next(uint32_t generation, bool own);

/** struct generation_span - a range of consecutive generations; zeroed: none */
struct generation_span {
	bool any;
	uint32_t first;
	uint32_t last;
	uint32_t count;
};

/** generation_span_add() - add a generation after those in the range; NONE is ignored */
void generation_span_add(struct generation_span *span, uint32_t generation, bool own);

/** generation_span_has() - return true if a sample's generation may be in the range */
bool generation_span_has(const struct generation_span *span, uint32_t generation, bool own);

#endif
