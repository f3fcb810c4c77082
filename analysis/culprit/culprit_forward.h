/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads of recently stored data: out-of-order processors forward the data from the store buffer if
 * a single store there contains all of it. Internal to culprit*.c.
 */
#ifndef DCPI_CULPRIT_FORWARD_H
#define DCPI_CULPRIT_FORWARD_H

#include "analysis/culprit/culprit_rule.h"

/**
 * struct culprit_forward - the last store to a load's bytes
 * @store: instruction
 * @whole: the store contains all bytes of the load
 */
struct culprit_forward {
	uint32_t store;
	bool whole;
};

/**
 * culprit_forward_find() - find the store that an instruction loads from
 *
 * Compares operands whose address registers do not change between the two, on the most frequent
 * paths.
 *
 * Return: false if none of the instructions shortly before the load is such a store.
 */
bool culprit_forward_find(const struct culprit_stall *stall, struct culprit_forward *ret);

#endif
