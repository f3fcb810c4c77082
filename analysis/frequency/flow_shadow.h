/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks to which an out-of-order processor attributes the waiting time of a preceding loop.
 *
 * A loop that waits for memory leaves many loads in progress when it ends. The instructions after
 * it are fetched at once, and wait for retirement until these loads are done. So the samples of a
 * block shortly after a long loop mostly belong to the loop, and are weak evidence of the block's
 * frequency. As the loop runs many iterations for each execution of the block, an error in the
 * block's frequency would become an error in the loop's.
 */
#ifndef DCPI_FLOW_SHADOW_H
#define DCPI_FLOW_SHADOW_H

#include <stdbool.h>

#include "analysis/frequency/flow_fit.h"
#include "analysis/graph/cfg.h"

/**
 * flow_shadow_find() - find the blocks in the shadow of loops
 * @shadowed: out: of each block of @cfg; all false at first
 * @waits:    of each block: true for a loop of one block that may wait for memory
 * @seen:     of each edge, as in struct flow_evidence
 *
 * Return: 0 or -ENOMEM.
 */
int flow_shadow_find(bool *shadowed, const struct flow_chain *chain, const struct cfg *cfg,
		     const bool *waits, const double *seen);

#endif
