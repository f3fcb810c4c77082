// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/match_cache.h"

#define MATCHES (1U << MATCH_CACHE_BITS)

void match_cache_forget(struct match_cache *cache)
{
	size_t i;

	for (i = 0; i < 1U << MATCH_CACHE_VERSION_BITS; i++)
		cache->versions[i]++;
}

void match_cache_shorten(struct match_cache *cache, struct match *match)
{
	if (cache->brief_count < MATCHES)
		cache->brief[cache->brief_count++] = (uint16_t)(match - cache->matches);
	else
		match->bytes = 0;
}

void match_cache_forget_brief(struct match_cache *cache)
{
	while (cache->brief_count > 0)
		cache->matches[cache->brief[--cache->brief_count]].bytes = 0;
}

void match_cache_forget_bins(struct match_cache *cache)
{
	size_t i;

	for (i = 0; i < MATCHES; i++)
		cache->matches[i].bin = NULL;
}
