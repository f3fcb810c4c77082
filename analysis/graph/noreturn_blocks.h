/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * No-return blocks: all paths from them end in a call that never returns or in a trap.
 */
#ifndef DCPI_NORETURN_BLOCKS_H
#define DCPI_NORETURN_BLOCKS_H

#include "analysis/graph/cfg.h"

/**
 * noreturn_blocks_find() - find the blocks from which all paths end in a stop (CFG_EDGE_STOP)
 * @ret: out: true for each such block; memory for one more element
 *
 * Most of them belong to failed checks: of the stack canary, assertions, usage(). Endless loops are
 * not no-return blocks. O(blocks + edges).
 *
 * Return: 0 or -ENOMEM.
 */
int noreturn_blocks_find(bool *ret, const struct cfg *cfg);

#endif
