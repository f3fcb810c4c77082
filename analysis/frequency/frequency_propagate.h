/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Estimates of classes that have none, from those that have one: what flows into a block
 * flows out of it (DCPI section 6.1.4).
 */
#ifndef DCPI_FREQUENCY_PROPAGATE_H
#define DCPI_FREQUENCY_PROPAGATE_H

#include "analysis/frequency/frequency.h"

/**
 * frequency_propagate() - fill in what flow constraints determine
 * @classes: estimates, by class; those with FREQUENCY_NONE are not known, and become
 *           FREQUENCY_PROPAGATED where a constraint has no other unknown. Differences
 *           below zero become zero, as in the paper.
 *
 * Beyond the paper, the whole procedure's flow counts too: executions of its entries are
 * executions of its exits. Intervals add up as independent errors do; confidence is one
 * step below the worst that an estimate was made from.
 *
 * O(blocks + edges).
 *
 * Return: 0 or -ENOMEM.
 */
int frequency_propagate(struct frequency_estimate *classes, const struct cfg *cfg,
			const struct frequency_classes *of);

#endif
