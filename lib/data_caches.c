// SPDX-License-Identifier: GPL-2.0-only
#include "lib/data_caches.h"

#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>

#define LEAF_INTEL 4U
#define LEAF_AMD 0x8000001dU
#define SUBLEAVES 8
#define TYPE_DATA 1U
#define TYPE_UNIFIED 3U

/*
 * The processor's own description. It has the size of one cache, while sysconf(3) may return the
 * sum of all caches of a socket.
 */
static void processor_read(uint64_t bytes[DATA_CACHE_LEVELS], unsigned int leaf)
{
	unsigned int a, b, c, d;

	for (unsigned int i = 0; i < SUBLEAVES; i++) {
		unsigned int type, level;

		if (__get_cpuid_count(leaf, i, &a, &b, &c, &d) == 0)
			return;
		type = a & 31;
		level = a >> 5 & 7;
		if (type == 0)
			return;
		if ((type == TYPE_DATA || type == TYPE_UNIFIED) && level >= 1 &&
		    level <= DATA_CACHE_LEVELS)
			bytes[level - 1] = ((uint64_t)(b >> 22) + 1) * ((b >> 12 & 1023) + 1) *
					   ((b & 4095) + 1) * ((uint64_t)c + 1);
	}
}

static void known_read(uint64_t bytes[DATA_CACHE_LEVELS])
{
	processor_read(bytes, LEAF_AMD);
	if (bytes[0] == 0)
		processor_read(bytes, LEAF_INTEL);
}
#else
static void known_read(uint64_t bytes[DATA_CACHE_LEVELS])
{
	(void)bytes;
}
#endif

void data_caches_read(uint64_t bytes[DATA_CACHE_LEVELS])
{
	static const int names[DATA_CACHE_LEVELS] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
						     _SC_LEVEL3_CACHE_SIZE};

	memset(bytes, 0, DATA_CACHE_LEVELS * sizeof(bytes[0]));
	known_read(bytes);
	if (bytes[0] != 0)
		return;
	for (int level = 0; level < DATA_CACHE_LEVELS; level++) {
		long size = sysconf(names[level]);

		bytes[level] = size > 0 ? (uint64_t)size : 0;
	}
}
