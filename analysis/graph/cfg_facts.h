/* SPDX-License-Identifier: GPL-2.0-only */
/* What the code alone tells of how often its blocks run, for all who estimate that. */
#ifndef DCPI_CFG_FACTS_H
#define DCPI_CFG_FACTS_H

#include "analysis/graph/trip_count.h"

/**
 * struct cfg_facts - of a graph
 * @doomed: of each block (cfg_doomed.h)
 * @trips:  loops whose turns are known
 */
struct cfg_facts {
	bool *doomed;
	struct trip_counts trips;
};

/** cfg_facts_find() - @ret: out; freed by cfg_facts_deinit(). Return: 0 or -ENOMEM. */
int cfg_facts_find(struct cfg_facts *ret, const struct cfg *cfg);

void cfg_facts_deinit(struct cfg_facts *facts);

#endif
