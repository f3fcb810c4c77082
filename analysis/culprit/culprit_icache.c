// SPDX-License-Identifier: GPL-2.0-only
/*
 * I-cache and ITB misses: an instruction can miss only if it is in a different line or page than
 * the one executed directly before it (DCPI section 6.3). In a loop that fits, only the first
 * iteration can miss.
 */
#include "analysis/culprit/culprit_rule.h"

#include <math.h>

/* Number of instructions by which the sampled PC of a miss event may be late. */
#define EVENT_SKID 4

/* Code may be evicted this many times as often as with independent executions. */
#define FOOTPRINT_SLACK 4
/* Additional evictions by code outside of the profile: starting processes, other programs. */
#define COLD_MISSES 1000.0
/* A cause is not unlikely if its expected cost is this part of a stall. */
#define EXPECTED_SHARE 0.15

static uint64_t line_of(const struct insn *insn, uint32_t line_bytes)
{
	return (insn->address + insn->bytes - 1) / line_bytes;
}

/*
 * Return the share of the stalled instruction's executions that came from an instruction in another
 * line, or from an unknown one.
 */
static double line_entry_share(const struct culprit_stall *stall, uint32_t line_bytes)
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

/*
 * Return the expected share of a stalled instruction's executions that miss, given the other code.
 */
static double expected_share(const struct culprit_stall *stall, bool by_sets)
{
	const struct culprit_input *input = stall->input;
	double share = code_footprint_miss_share(input->footprint, stall->frequency);

	if (!by_sets || input->sets == NULL)
		return share;
	return fmax(share,
		    set_pressure_miss_share(input->sets, input->cfg->insns[stall->insn].address,
					    stall->frequency));
}

/* Upper bound of that share: correlated executions, and code that is not in the profile. */
static double possible_share(const struct culprit_stall *stall, bool by_sets)
{
	double executions = stall->frequency * stall->input->profile->period_cycles;

	if (stall->input->footprint == NULL)
		return 1;
	return fmin(1, FOOTPRINT_SLACK * expected_share(stall, by_sets) + COLD_MISSES / executions);
}

/*
 * Return true if the expected misses due to other code of the image would cause a significant
 * stall.
 */
static bool is_expected(const struct culprit_stall *stall, const struct machine_cache *cache)
{
	return stall->input->footprint != NULL &&
	       cache->miss_cycles_min * expected_share(stall, true) >
		       EXPECTED_SHARE * stall->cycles;
}

/* @reach: capacity of the cache or TLB in bytes */
static bool fetch_bound(const struct culprit_stall *stall, const struct machine_cache *cache,
			uint64_t reach, enum profile_event_role role, struct culprit_bound *ret)
{
	const struct cfg_block *block = &stall->input->cfg->blocks[stall->block];
	uint32_t last = block->first + block->count - 1;
	double share;

	if (cache->line_bytes == 0 || cache->miss_cycles_max == 0)
		return false;
	share = line_entry_share(stall, cache->line_bytes);
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

/* Code in which a program spends its time stays in a cache or TLB that can hold twice as much. */
static bool code_fits(const struct culprit_stall *stall, double code, double capacity)
{
	return !stall->input->model->in_order && code > 0 && code <= capacity / 2;
}

bool culprit_icache_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	const struct machine_cache *cache = &stall->input->model->icache;

	/* Out of order, fetching continues while instructions wait. */
	if (!is_expected(stall, cache))
		ret->rank = stall->input->model->in_order ? 1 : 2;
	if (code_fits(stall, stall->input->profile->code_bytes, cache->bytes))
		ret->rank = CULPRIT_RANK_IMPROBABLE;
	return fetch_bound(stall, cache, cache->bytes, PROFILE_ROLE_IMISS, ret);
}

bool culprit_itb_bound(const struct culprit_stall *stall, struct culprit_bound *ret)
{
	const struct machine_cache *itb = &stall->input->model->itb;

	/* New pages are far rarer than new lines. */
	ret->rank = 2;
	if (code_fits(stall, stall->input->profile->code_pages, itb->bytes))
		ret->rank = CULPRIT_RANK_IMPROBABLE;
	return fetch_bound(stall, itb, (uint64_t)itb->bytes * itb->line_bytes,
			   PROFILE_ROLE_ITB_MISS, ret);
}
