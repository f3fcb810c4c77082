// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/base/heap.h"

#include <malloc.h>

/* A block of its own that is mapped and unmapped costs a few us: none for a sample is. */
#define BLOCK_BYTES (128 << 10)

void heap_configure(void)
{
	/* Setting it ends the learning. Threads (of the image store) share one arena. */
	mallopt(M_MMAP_THRESHOLD, BLOCK_BYTES);
	mallopt(M_TRIM_THRESHOLD, BLOCK_BYTES);
	mallopt(M_ARENA_MAX, 1);
}

void heap_trim(void)
{
	malloc_trim(0);
}
