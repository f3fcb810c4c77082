// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/cfg_facts.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/graph/noreturn_blocks.h"

int cfg_facts_find(struct cfg_facts *ret, const struct cfg *cfg)
{
	struct cfg_facts facts = {.noreturn = malloc((size_t)cfg->block_count + 1)};
	int r = facts.noreturn != NULL ? noreturn_blocks_find(facts.noreturn, cfg) : -ENOMEM;

	if (r == 0)
		r = trip_counts_find(&facts.trips, cfg, facts.noreturn);
	if (r < 0)
		cfg_facts_deinit(&facts);
	*ret = facts;
	return r;
}

void cfg_facts_deinit(struct cfg_facts *facts)
{
	free(facts->noreturn);
	trip_counts_deinit(&facts->trips);
	facts->noreturn = NULL;
}
