// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/loop_clocks.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/frequency/procedure_profile.h"
#include "analysis/graph/induction.h"
#include "analysis/graph/loop_nest.h"
#include "lib/cleanup.h"

/* struct clock_list - @best: of each block, the counter's clock with the least variance */
struct clock_list {
	const struct cfg *cfg;
	const struct loop_nest *nest;
	const struct procedure_profile *profile;
	bool *clocked; /* of each loop */
	struct loop_clock *best;
};

static void counter_keep(struct clock_list *list, const struct loop_clock *clock)
{
	struct loop_clock *best = &list->best[clock->block];

	if (best->pairs == 0 || clock->variance < best->variance)
		*best = *clock;
}

/* Registers that the pairs of a loop do not contain are no counters of it. */
static int counters_read(struct clock_list *list, uint32_t loop)
{
	struct loop_clock clock;
	uint32_t changed = 0;
	int r = 0;

	for (size_t i = 0; i < list->profile->pair_count; i++) {
		const struct profile_pair *pair = &list->profile->pairs[i];

		for (size_t j = 0; j < pair->change_count; j++) {
			if (pair->changes[j].reg < INDUCTION_REGISTERS)
				changed |= UINT32_C(1) << pair->changes[j].reg;
		}
	}
	for (uint8_t reg = 0; reg < INDUCTION_REGISTERS && r >= 0; reg++) {
		if ((changed & UINT32_C(1) << reg) == 0)
			continue;
		r = loop_counter_read(&clock, list->cfg, list->nest, loop, reg, list->profile);
		if (r > 0 && !list->clocked[list->nest->of_block[clock.block]])
			counter_keep(list, &clock);
	}
	return r < 0 ? r : 0;
}

static int clocks_read(struct clock_list *list,
		       void (*visit)(void *context, const struct loop_clock *clock, int read),
		       void *context)
{
	struct loop_clock clock;
	int r = 0;

	for (uint32_t loop = 0; loop < list->nest->count && r >= 0; loop++) {
		r = loop_clock_read(&clock, list->cfg, list->nest, loop, list->profile);
		list->clocked[loop] = r > 0;
		if (r >= 0 && clock.pairs + clock.disagreed + clock.outliers > 0)
			visit(context, &clock, r);
	}
	for (uint32_t loop = 0; loop < list->nest->count && r >= 0; loop++)
		r = counters_read(list, loop);
	for (uint32_t b = 0; b < list->cfg->block_count && r >= 0; b++) {
		if (list->best[b].pairs > 0)
			visit(context, &list->best[b], 1);
	}
	return r < 0 ? r : 0;
}

int loop_clocks_visit(const struct cfg *cfg, const struct procedure_profile *profile,
		      void (*visit)(void *context, const struct loop_clock *clock, int read),
		      void *context)
{
	_cleanup_free_ struct loop_clock *best = NULL;
	_cleanup_free_ bool *clocked = NULL;
	struct loop_nest nest;
	int r = -ENOMEM;

	if (profile->pair_count < LOOP_CLOCK_PAIRS_MIN)
		return 0;
	if (loop_nest_create(&nest, cfg) < 0)
		return -ENOMEM;
	best = calloc((size_t)cfg->block_count + 1, sizeof(*best));
	clocked = calloc((size_t)nest.count + 1, sizeof(*clocked));
	if (best != NULL && clocked != NULL)
		r = clocks_read(&(struct clock_list){cfg, &nest, profile, clocked, best}, visit,
				context);
	loop_nest_deinit(&nest);
	return r;
}
