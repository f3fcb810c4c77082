// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/flow_records.h"

#include <math.h>

/* Relative variance of the cycles of a range from one execution to the next. */
#define TIME_VARIANCE 4.0
/* Relative error that does not shrink with the number of records. */
#define SYSTEMATIC 0.015

int flow_records_take(struct flow_evidence *evidence, const struct frequency_input *input)
{
	const struct branch_records *records = input->profile->records;
	int taken = 0;

	for (uint32_t b = 0; records != NULL && b < input->cfg->block_count; b++)
		taken += records->blocks[b].range_cycles > 0;
	for (uint32_t b = 0; taken > 0 && b < input->cfg->block_count; b++) {
		const struct record_block *block = &records->blocks[b];

		/* The samples of the other blocks are in the ranges of these. */
		evidence->blocks[b] = (struct flow_block_evidence){.samples = 0};
		if (block->range_cycles > 0)
			evidence->blocks[b] = (struct flow_block_evidence){
				.samples = block->samples,
				.cycles = block->range_cycles,
				.evenness = 1 / (TIME_VARIANCE / block->ranges +
						 SYSTEMATIC * SYSTEMATIC),
			};
	}
	return taken;
}
