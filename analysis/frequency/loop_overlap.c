// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/loop_overlap.h"

#include <stdbool.h>

/* Instructions that processors have in flight. */
#define WINDOW_INSNS 512

/* Return: true if the block is a loop of few instructions in each activation. */
static bool is_short_loop(const struct frequency *frequency, const struct cfg *cfg, uint32_t b)
{
	const struct cfg_block *block = &cfg->blocks[b];
	double leaves = 0;
	bool loops = false;

	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		if (cfg->edges[e].to == b)
			loops = true;
		else
			leaves += frequency->edges[e].value;
	}
	return loops && frequency->blocks[b].value * block->count < WINDOW_INSNS * leaves;
}

void loop_overlap(struct schedule *schedule, const struct frequency *frequency,
		  const struct cfg *cfg)
{
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		double least = schedule->block_least[b], cycles = schedule->block_cycles[b];

		if (!(least < cycles) || !is_short_loop(frequency, cfg, b))
			continue;
		for (uint32_t i = block->first; i < block->first + block->count; i++)
			schedule->insns[i].min_cycles *= least / cycles;
		schedule->block_cycles[b] = least;
	}
}
