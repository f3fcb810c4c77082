// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_blocks.h"

#include <stdlib.h>

#include "lib/cleanup.h"

bool calc_blocks_is_padding(const struct cfg_block *block, double samples)
{
	return samples == 0 && (block->flags & CFG_BLOCK_UNREACHED) != 0;
}

struct heat {
	double samples;
	double frequency; /* orders blocks with equal samples */
	uint32_t block;
};

static int hottest_first(const void *a, const void *b)
{
	const struct heat *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	if (x->frequency != y->frequency)
		return x->frequency > y->frequency ? -1 : 1;
	return (x->block > y->block) - (x->block < y->block);
}

bool *calc_blocks_choose(const struct calc_procedure *procedure, size_t limit, double share)
{
	const struct cfg *cfg = procedure->analysis->cfg;
	_cleanup_free_ struct heat *heat = calloc(cfg->block_count + 1, sizeof(*heat));
	bool *shown = calloc(cfg->block_count + 1, sizeof(*shown));
	double least = share * calc_procedure_samples(procedure);
	size_t count = 0;

	for (uint32_t i = 0; heat != NULL && shown != NULL && i < cfg->block_count; i++) {
		double samples = calc_procedure_block(procedure, i).samples;

		if (samples >= least && !calc_blocks_is_padding(&cfg->blocks[i], samples))
			heat[count++] = (struct heat){
				.samples = samples,
				.frequency = procedure->analysis->frequency.blocks[i].value,
				.block = i,
			};
	}
	if (heat == NULL || shown == NULL) {
		free(shown);
		return NULL;
	}
	if (limit > 0 && count > 0)
		qsort(heat, count, sizeof(*heat), hottest_first);
	for (size_t i = 0; i < count && (limit == 0 || i < limit); i++)
		shown[heat[i].block] = true;
	return shown;
}
