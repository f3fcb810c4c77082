// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/estimate_cache.h"

#include <errno.h>
#include <stdlib.h>

struct kept_estimate {
	float value;
	float low;
	float high;
	uint8_t confidence;
	uint8_t origin;
	bool measured;
};

/* @estimates: of blocks, followed by those of edges */
struct estimate_cache {
	uint32_t block_count;
	uint32_t edge_count;
	struct kept_estimate estimates[];
};

size_t estimate_cache_bytes(const struct cfg *cfg)
{
	return sizeof(struct estimate_cache) +
	       ((size_t)cfg->block_count + cfg->edge_count) * sizeof(struct kept_estimate);
}

static void pack(struct kept_estimate *to, const struct frequency_estimate *from, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		to[i] = (struct kept_estimate){
			.value = (float)from[i].value,
			.low = (float)from[i].low,
			.high = (float)from[i].high,
			.confidence = (uint8_t)from[i].confidence,
			.origin = (uint8_t)from[i].origin,
			.measured = from[i].measured,
		};
}

static void unpack(struct frequency_estimate *to, const struct kept_estimate *from, uint32_t count,
		   double factor)
{
	for (uint32_t i = 0; i < count; i++)
		to[i] = (struct frequency_estimate){
			.value = (double)from[i].value * factor,
			.low = (double)from[i].low * factor,
			.high = (double)from[i].high * factor,
			.confidence = (enum frequency_confidence)from[i].confidence,
			.origin = (enum frequency_origin)from[i].origin,
			.measured = from[i].measured,
		};
}

int frequency_keep(struct estimate_cache **ret, const struct frequency *frequency,
		   const struct cfg *cfg)
{
	struct estimate_cache *kept = malloc(estimate_cache_bytes(cfg));

	if (kept == NULL)
		return -ENOMEM;
	kept->block_count = cfg->block_count;
	kept->edge_count = cfg->edge_count;
	pack(kept->estimates, frequency->blocks, cfg->block_count);
	pack(kept->estimates + cfg->block_count, frequency->edges, cfg->edge_count);
	*ret = kept;
	return 0;
}

int frequency_from_kept(struct frequency *ret, const struct estimate_cache *kept,
			const struct cfg *cfg, double factor)
{
	if (kept->block_count != cfg->block_count || kept->edge_count != cfg->edge_count)
		return -EINVAL;
	if (frequency_allocate(ret, cfg) < 0)
		return -ENOMEM;
	unpack(ret->blocks, kept->estimates, kept->block_count, factor);
	unpack(ret->edges, kept->estimates + kept->block_count, kept->edge_count, factor);
	return 0;
}
