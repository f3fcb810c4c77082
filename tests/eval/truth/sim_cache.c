// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/truth/sim_cache.h"

#include <errno.h>
#include <stdlib.h>

int sim_cache_init(struct sim_cache *cache, const struct sim_geometry *geometry)
{
	*cache = (struct sim_cache){0};
	if (geometry->bytes == 0)
		return 0;
	cache->shift = (uint32_t)__builtin_ctz(geometry->line);
	cache->ways = geometry->ways;
	cache->sets = geometry->bytes / geometry->line / geometry->ways;
	cache->lines = calloc((size_t)cache->sets * cache->ways, sizeof(*cache->lines));
	return cache->lines ? 0 : -ENOMEM;
}

static struct sim_line *set_of(struct sim_cache *cache, uint64_t number)
{
	return &cache->lines[(size_t)(number & (cache->sets - 1)) * cache->ways];
}

struct sim_line *sim_cache_find(struct sim_cache *cache, uint64_t address)
{
	uint64_t number = address >> cache->shift;
	struct sim_line *set;
	uint32_t i;

	if (!cache->lines)
		return NULL;
	set = set_of(cache, number);
	for (i = 0; i < cache->ways; i++) {
		if (set[i].tag == number + 1) {
			set[i].used = ++cache->clock;
			return &set[i];
		}
	}
	return NULL;
}

struct sim_line *sim_cache_fill(struct sim_cache *cache, uint64_t address, uint64_t ready)
{
	uint64_t number = address >> cache->shift;
	struct sim_line *set, *oldest;
	uint32_t i;

	if (!cache->lines)
		return NULL;
	set = oldest = set_of(cache, number);
	for (i = 1; i < cache->ways; i++) {
		if (set[i].used < oldest->used)
			oldest = &set[i];
	}
	*oldest = (struct sim_line){number + 1, ready, ++cache->clock};
	return oldest;
}

void sim_cache_deinit(struct sim_cache *cache)
{
	free(cache->lines);
	*cache = (struct sim_cache){0};
}
