/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How well the frequencies of a fit are determined: Laplace's approximation, the
 * inverse of the likelihood's curvature at its maximum.
 */
#ifndef DCPI_FLOW_SPREAD_H
#define DCPI_FLOW_SPREAD_H

#include "analysis/frequency/flow_fit.h"

/**
 * flow_spread_find() - standard deviations of the logarithms of frequencies
 * @fit:      of flow_fit_create() with the same evidence; its spread is set
 * @chain:    with the probabilities of the fit set: not changed since
 *
 * O(nodes x branches^2): of graphs where that is too much, what blocks' own samples
 * say alone.
 *
 * Return: 0 or -ENOMEM.
 */
int flow_spread_find(struct flow_fit *fit, struct flow_chain *chain,
		     const struct flow_evidence *evidence);

#endif
