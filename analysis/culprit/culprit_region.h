/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops without calls: code that stays in the I-cache and the ITB from the second iteration on, if
 * it fits. Internal to culprit*.c.
 */
#ifndef DCPI_CULPRIT_REGION_H
#define DCPI_CULPRIT_REGION_H

#include "analysis/culprit/culprit.h"

#define CULPRIT_REGION_NONE UINT32_MAX

/**
 * struct culprit_region - a strongly connected part of the graph without calls
 * @entries: entries from outside, in the unit of struct frequency_estimate
 * @bytes:   from its first instruction to its last: an upper bound of its size in the cache
 */
struct culprit_region {
	double entries;
	uint64_t bytes;
};

/**
 * struct culprit_regions - of a procedure
 * @of_block: region of each block, CULPRIT_REGION_NONE outside of such loops
 */
struct culprit_regions {
	uint32_t *of_block;
	struct culprit_region *regions;
	uint32_t count;
};

/**
 * culprit_regions_find() - find the regions of a procedure, O(blocks + edges)
 * @ret: out; freed by culprit_regions_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int culprit_regions_find(struct culprit_regions *ret, const struct culprit_input *input);

void culprit_regions_deinit(struct culprit_regions *regions);

/**
 * culprit_region_share() - return the share of a block's executions that are the first in its
 * region
 * @bytes: capacity of the cache or TLB
 *
 * Return: 0 .. 1; 1 if the block is in no region, or in one that does not fit.
 */
double culprit_region_share(const struct culprit_regions *regions,
			    const struct frequency *frequency, uint32_t block, uint64_t bytes);

/**
 * culprit_insn_calls() - return true if other code may run between an instruction and the next one.
 */
static inline bool culprit_insn_calls(const struct insn *insn)
{
	return insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT ||
	       insn->class == INSN_SYSTEM;
}

#endif
