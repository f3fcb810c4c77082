/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which blocks and edges must have run, for all that was seen. A loop's samples say nothing of
 * how often it was entered, nor those of one way of a branch anything of the other: no block
 * without samples has a lower bound, unless control cannot have gone round through what was
 * seen without it, or blocks around it are known so well that it is their difference.
 */
#ifndef DCPI_FLOW_TIES_H
#define DCPI_FLOW_TIES_H

#include "analysis/frequency/frequency.h"

/**
 * flow_ties_loosen() - let wide intervals of what may not have run begin at 0
 * @frequency: in: estimates by flow; out: of blocks and edges that nothing ties, @low is 0 and
 *             confidence is low. Values stay
 *
 * What was seen: samples, directions of branches, and executions by the callers where these are
 * not worth less than one execution seen.
 *
 * O((blocks + edges)^2); of graphs where that is too much, all blocks without samples may not
 * have run, nor the edges at them.
 *
 * Return: 0 or -ENOMEM.
 */
int flow_ties_loosen(struct frequency *frequency, const struct cfg *cfg,
		     const struct procedure_profile *profile);

#endif
