/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Properties of a graph's execution that follow from the code alone, for all frequency estimators.
 */
#ifndef DCPI_CFG_FACTS_H
#define DCPI_CFG_FACTS_H

#include "analysis/graph/trip_count.h"

/**
 * struct cfg_facts - properties of a graph
 * @noreturn: for each block, true if it is a no-return block (noreturn_blocks.h)
 * @trips:  loops with a known trip count
 */
struct cfg_facts {
	bool *noreturn;
	struct trip_counts trips;
};

/**
 * cfg_facts_find() - derive the properties of a graph. @ret: out; freed by cfg_facts_deinit().
 * Return: 0 or -ENOMEM.
 */
int cfg_facts_find(struct cfg_facts *ret, const struct cfg *cfg);

void cfg_facts_deinit(struct cfg_facts *facts);

#endif
