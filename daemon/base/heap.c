// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/base/heap.h"

#include <malloc.h>

/*
 * A block that is mapped separately costs a few us for mmap() and munmap(); no per-sample block is
 * that large.
 */
#define BLOCK_BYTES (128 << 10)

void heap_configure(void)
{
	/*
	 * A fixed threshold turns off glibc's dynamic one. All threads (of the image archive) share
	 * one arena.
	 */
	mallopt(M_MMAP_THRESHOLD, BLOCK_BYTES);
	mallopt(M_TRIM_THRESHOLD, BLOCK_BYTES);
	mallopt(M_ARENA_MAX, 1);
}

void heap_trim(void)
{
	malloc_trim(0);
}
