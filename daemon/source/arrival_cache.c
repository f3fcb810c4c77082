// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/arrival_cache.h"

/* A multiplier with evenly distributed bits (the golden ratio, Knuth). */
#define SPREAD UINT64_C(0x9e3779b97f4a7c15)
#define INDEX_BITS 12
_Static_assert(1 << INDEX_BITS == ARRIVAL_CACHE_ENTRIES, "the table's size");

static uint32_t index_of(uint64_t space, uint64_t to)
{
	return (uint32_t)((to + space * SPREAD) * SPREAD >> (64 - INDEX_BITS));
}

void arrival_cache_add(struct arrival_cache *cache, uint64_t space, uint64_t from, uint64_t to)
{
	struct arrival *entry = &cache->entry[index_of(space, to)];

	if (entry->to != to || entry->space != space) {
		*entry = (struct arrival){space, to, from, 1, false};
		return;
	}
	if (entry->from != from) {
		entry->from = from;
		entry->streak = 1;
		entry->other = true;
		return;
	}
	entry->streak++;
	if (entry->streak >= ARRIVAL_CACHE_MANY)
		entry->other = false;
}

bool arrival_cache_find(const struct arrival_cache *cache, uint64_t space, uint64_t to,
			uint64_t *ret)
{
	const struct arrival *entry = &cache->entry[index_of(space, to)];

	if (entry->to != to || entry->space != space || entry->from == 0 || entry->other)
		return false;
	*ret = entry->from;
	return true;
}
