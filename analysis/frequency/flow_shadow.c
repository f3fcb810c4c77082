// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/flow_shadow.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"

/* Instructions in progress while the oldest one waits: about half of an out-of-order window. */
#define SHADOW_INSNS 64
/* Loops with fewer iterations leave no more loads in progress than the code around them. */
#define TRIPS_MIN 16.0

/* @left: of each block: instructions of shadow that remain at its beginning */
struct shadow {
	const struct flow_chain *chain;
	const struct cfg *cfg;
	const bool *waits;
	uint32_t *left;
};

/* Iterations per exit of a loop of one block, by the observed directions. */
static double trips_of(const struct flow_chain *chain, uint32_t b, const double *seen)
{
	double stay = 0, leave = 0;

	for (uint32_t e = chain->first[b]; e < chain->first[b] + chain->count[b]; e++) {
		if (chain->to[e] == b)
			stay += seen[e];
		else
			leave += seen[e];
	}
	return leave > 0 ? 1 + stay / leave : 0;
}

/* Return: true if a block after @from is in more of the shadow than was known. */
static bool cast(struct shadow *shadow, uint32_t from, uint32_t left)
{
	const struct flow_chain *chain = shadow->chain;
	bool more = false;

	for (uint32_t e = chain->first[from]; e < chain->first[from] + chain->count[from]; e++) {
		uint32_t to = chain->to[e];

		if (to >= shadow->cfg->block_count || shadow->waits[to] || shadow->left[to] >= left)
			continue;
		shadow->left[to] = left;
		more = true;
	}
	return more;
}

/* Return: true if another call must follow. The longest path has SHADOW_INSNS blocks. */
static bool cast_on(struct shadow *shadow)
{
	const struct cfg *cfg = shadow->cfg;
	bool more = false;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		if (shadow->left[b] > cfg->blocks[b].count)
			more |= cast(shadow, b, shadow->left[b] - cfg->blocks[b].count);
	}
	return more;
}

int flow_shadow_find(bool *shadowed, const struct flow_chain *chain, const struct cfg *cfg,
		     const bool *waits, const double *seen)
{
	_cleanup_free_ uint32_t *left = calloc((size_t)cfg->block_count + 1, sizeof(*left));
	struct shadow shadow = {.chain = chain, .cfg = cfg, .waits = waits, .left = left};
	bool more = false;

	if (left == NULL)
		return -ENOMEM;
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		if (waits[b] && trips_of(chain, b, seen) >= TRIPS_MIN)
			more |= cast(&shadow, b, SHADOW_INSNS);
	}
	while (more)
		more = cast_on(&shadow);
	for (uint32_t b = 0; b < cfg->block_count; b++)
		shadowed[b] = left[b] > 0;
	return 0;
}
