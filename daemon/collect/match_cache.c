// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/match_cache.h"

#define MATCHES (1U << MATCH_CACHE_BITS)
#define EVENT_ONLY (0xffULL << DCPI_COUNT_BITS)

void match_cache_forget(struct match_cache *cache)
{
	size_t i;

	for (i = 0; i < 1U << MATCH_CACHE_VERSION_BITS; i++)
		match_cache_forget_process(cache, (uint32_t)i);
	cache->kernel_who = EVENT_ONLY;
}

/* Replace an invalid match, or a random one. */
struct match *match_cache_place(struct match_cache *cache, const struct dcpi_sample *sample)
{
	struct match *pair = match_cache_pair(cache, sample);

	if (!match_cache_holds(cache, &pair[0]))
		return &pair[0];
	if (!match_cache_holds(cache, &pair[1]))
		return &pair[1];
	cache->random = cache->random * 1664525 + 1013904223;
	return &pair[cache->random >> 31];
}

void match_cache_divide_kernel(struct match_cache *cache)
{
	cache->kernel_who = UINT64_MAX;
}

/* 0 is never a valid version: versions begin with 1. */
void match_cache_mark_volatile(struct match_cache *cache, uint64_t *version)
{
	if (cache->volatile_count < MATCHES)
		cache->volatile_versions[cache->volatile_count++] = version;
	else
		*version = 0;
}

void match_cache_drop_volatile(struct match_cache *cache)
{
	while (cache->volatile_count > 0)
		*cache->volatile_versions[--cache->volatile_count] = 0;
}

void match_cache_forget_bins(struct match_cache *cache)
{
	size_t i;

	for (i = 0; i < MATCHES; i++)
		cache->matches[i / 2][i % 2].bin = NULL;
}
