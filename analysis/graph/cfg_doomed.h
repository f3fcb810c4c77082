/* SPDX-License-Identifier: GPL-2.0-only */
/* Blocks from which there is no way back: they end in a call that never returns, or a trap. */
#ifndef DCPI_CFG_DOOMED_H
#define DCPI_CFG_DOOMED_H

#include "analysis/graph/cfg.h"

/**
 * cfg_doomed_find() - blocks all ways from which end in a stop (CFG_EDGE_STOP)
 * @ret: out: of each block; room for one more
 *
 * Those of failed checks, as a rule: of the stack's canary, assertions, usage(). Endless loops
 * are none. O(blocks + edges).
 *
 * Return: 0 or -ENOMEM.
 */
int cfg_doomed_find(bool *ret, const struct cfg *cfg);

#endif
