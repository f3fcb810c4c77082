/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Estimates of classes without evidence, derived from classes with an estimate: the flow into a
 * block equals the flow out of it (DCPI section 6.1.4).
 */
#ifndef DCPI_FREQUENCY_PROPAGATE_H
#define DCPI_FREQUENCY_PROPAGATE_H

#include "analysis/frequency/frequency.h"

/**
 * frequency_propagate() - derive the estimates that flow constraints determine
 * @classes: estimates, by class. A class with FREQUENCY_NONE is unknown and becomes
 *           FREQUENCY_PROPAGATED where a constraint has no other unknown. Differences below zero
 *           become zero, as in the paper.
 *
 * Beyond the paper, the flow of the whole procedure counts too: executions of its entries are
 * executions of its exits. Errors are treated as independent when intervals are added. The
 * confidence is one step below the lowest confidence among the estimates used.
 *
 * O(blocks + edges).
 *
 * Return: 0 or -ENOMEM.
 */
int frequency_propagate(struct frequency_estimate *classes, const struct cfg *cfg,
			const struct frequency_classes *of);

#endif
