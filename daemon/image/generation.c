// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/generation.h"

uint32_t generation_next(uint32_t generation, bool own)
{
	if (generation == GENERATION_ANY || generation == GENERATION_NONE)
		return generation;
	if (own)
		return generation % GENERATION_OWN_MAX + 1;
	return (generation + 1) & DCPI_GENERATION_MAX;
}

/* Return the number of generations from @from to @to. */
static uint32_t generation_distance(uint32_t from, uint32_t to, bool own)
{
	if (own)
		return (to + GENERATION_OWN_MAX - from) % GENERATION_OWN_MAX;
	return (to - from) & DCPI_GENERATION_MAX;
}

void generation_span_add(struct generation_span *span, uint32_t generation, bool own)
{
	if (generation == GENERATION_NONE)
		return;
	if (!span->any) {
		span->any = true;
		span->first = generation;
		span->count = 0;
	} else if (span->count <= DCPI_GENERATION_MAX) {
		span->count += generation_distance(span->last, generation, own);
	}
	if (generation == GENERATION_ANY)
		span->count = DCPI_GENERATION_MAX;
	span->last = generation;
}

bool generation_span_has(const struct generation_span *span, uint32_t generation, bool own)
{
	if (!span->any || (own && generation == 0))
		return false;
	return generation_distance(span->first, generation, own) <= span->count;
}
