// SPDX-License-Identifier: GPL-2.0-only
/*
 * I-cache and ITB misses: only an instruction that is not in the same line or page as
 * one executed right before it can miss (DCPI section 6.3), and in a loop that fits
 * only the first time around.
 */
#include "analysis/culprit/culprit_rule.h"

#include <math.h>

/* The sampled PC of a miss event may be this many instructions late. */
#define EVENT_SKID 4

/* Code may be evicted so many times as often as if executions were independent. */
#define FOOTPRINT_SLACK 4
/* And so often by what is not in the profile: processes that begin, other programs. */
#define COLD_MISSES 1000.0
/* What is expected to make so much of a stall is not doubted. */
#define EXPECTED_SHARE 0.15

static uint64_t line_of(const struct insn *insn, uint32_t line_bytes)
{
	return (insn->address + insn->bytes - 1) / line_bytes;
}

/*
 * The share of the stalled instruction's executions that came from an instruction in
 * another line, or from where it isn't known.
 */
static double arrivals_from_elsewhere(const struct culprit_stall *stall, uint32_t line_bytes)
{
	const struct cfg *cfg = stall->input->cfg;
	const struct cfg_block *block = &cfg->blocks[stall->block];
	const struct insn *insn = &cfg->insns[stall->insn];
	uint64_t line = line_of(insn, line_bytes);
	double share = 0;

	if (stall->insn > block->first)
		return culprit_insn_calls(insn - 1) || line_of(insn - 1, line_bytes) != line;
	for (uint32_t i = 0; i < block->in_count; i++) {
		uint32_t index = cfg->in_edges[block->in + i];
		const struct cfg_edge *edge = &cfg->edges[index];

		if (edge->from >= cfg->block_count || culprit_insn_calls(&cfg->insns[edge->insn]) ||
		    line_of(&cfg->insns[edge->insn], line_bytes) != line)
			share += culprit_edge_share(stall->input, index);
	}
	return block->in_count == 0 ? 1 : fmin(share, 1);
}

/* The share of a stalled instruction's executions that miss, by what other code there is. */
static double expected_share(const struct culprit_stall *stall, bool by_sets)
{
	const struct culprit_input *input = stall->input;
	double share = code_footprint_miss_share(input->footprint, stall->frequency);

	if (!by_sets || input->sets == NULL)
		return share;
	return fmax(share, code_sets_miss_share(input->sets, input->cfg->insns[stall->insn].address,
						stall->frequency));
}

/* That which may, if more comes together than is expected, and beside what is profiled. */
static double possible_share(const struct culprit_stall *stall, bool by_sets)
{
	double executions = stall->frequency * stall->input->profile->period_cycles;

	if (stall->input->footprint == NULL)
		return 1;
	return fmin(1, FOOTPRINT_SLACK * expected_share(stall, by_sets) + COLD_MISSES / executions);
}

/* Whether misses that other code of the image must cause would show in a stall. */
static bool is_expected(const struct culprit_stall *stall, const struct machine_cache *cache)
{
	return stall->input->footprint != NULL &&
	       cache->miss_cycles_min * expected_share(stall, true) >
		       EXPECTED_SHARE * stall->cycles;
}

/* @reach: bytes that the cache or TLB holds */
static bool fetch_bound(const struct culprit_stall *stall, const struct machine_cache *cache,
			uint64_t reach, enum profile_event_role role, struct culprit_bound *ret)
{
	const struct cfg_block *block = &stall->input->cfg->blocks[stall->block];
	uint32_t last = block->first + block->count - 1;
	double share;

	if (cache->line_bytes == 0 || cache->miss_cycles_max == 0)
		return false;
	share = arrivals_from_elsewhere(stall, cache->line_bytes);
	share = fmin(share, culprit_region_share(stall->regions, stall->input->frequency,
						 stall->block, reach));
	share = fmin(share, possible_share(stall, role == PROFILE_ROLE_IMISS));
	if (share < CULPRIT_NEGLIGIBLE)
		return false;
	if (last > stall->insn + EVENT_SKID)
		last = stall->insn + EVENT_SKID;
	ret->high =
		fmin(share * cache->miss_cycles_max,
		     culprit_event_bound(stall, role, stall->insn, last, cache->miss_cycles_max));
	return true;
}

bool culprit_icache_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	const struct machine_cache *cache = &stall->input->model->icache;

	ret->doubt = !is_expected(stall, cache);
	return fetch_bound(stall, cache, cache->bytes, PROFILE_ROLE_IMISS, ret);
}

bool culprit_itb_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	const struct machine_cache *itb = &stall->input->model->itb;

	/* Far fewer pages than lines are ever new. */
	ret->doubt = 2;
	return fetch_bound(stall, itb, (uint64_t)itb->bytes * itb->line_bytes,
			   PROFILE_ROLE_ITB_MISS, ret);
}
