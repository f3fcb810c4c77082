/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads of what was stored just before: out of order, they get it from the store buffer,
 * unless no store there has all of it. Internal to culprit*.c.
 */
#ifndef DCPI_CULPRIT_FORWARD_H
#define DCPI_CULPRIT_FORWARD_H

#include "analysis/culprit/culprit_rule.h"

/**
 * struct culprit_forward - the last store to a load's bytes
 * @store: instruction
 * @whole: it has all of them
 */
struct culprit_forward {
	uint32_t store;
	bool whole;
};

/**
 * culprit_forward_find() - the store that an instruction loads from
 *
 * By address registers that don't change between them, on the most frequent ways.
 *
 * Return: false if there is none among the instructions right before it.
 */
bool culprit_forward_find(const struct culprit_stall *stall, struct culprit_forward *ret);

#endif
