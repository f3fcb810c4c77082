/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Uncertainty of the frequencies of a fit: Laplace's approximation, the inverse of the likelihood's
 * curvature at its maximum.
 */
#ifndef DCPI_FLOW_SPREAD_H
#define DCPI_FLOW_SPREAD_H

#include "analysis/frequency/flow_fit.h"

/**
 * flow_spread_find() - compute standard deviations of the logarithms of frequencies
 * @fit:   of flow_fit_create() with the same evidence; its spread is set
 * @chain: still with the probabilities of the fit
 *
 * O(nodes x branches^2). If a graph is too large for that, the result considers each block's own
 * samples only.
 *
 * Return: 0 or -ENOMEM.
 */
int flow_spread_find(struct flow_fit *fit, struct flow_chain *chain,
		     const struct flow_evidence *evidence);

#endif
