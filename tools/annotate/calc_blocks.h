/* SPDX-License-Identifier: GPL-2.0-only */
/* Selects the blocks of a procedure that a report shows. */
#ifndef DCPI_CALC_BLOCKS_H
#define DCPI_CALC_BLOCKS_H

#include <stdbool.h>

#include "tools/annotate/calc_procedure.h"

/**
 * calc_blocks_is_padding() - return true if no edge leads to a block, and nothing indicates that it
 * ever ran
 * @samples: of the block
 */
bool calc_blocks_is_padding(const struct cfg_block *block, double samples);

/**
 * calc_blocks_choose() - choose blocks by their samples; padding is never chosen
 * @limit: only this many, the ones with most samples, or among equals with the highest frequency;
 *         0: all
 * @share: only blocks with at least this share of the procedure's samples, 0 .. 1
 *
 * Return: malloc'd, by block; NULL if out of memory.
 */
bool *calc_blocks_choose(const struct calc_procedure *procedure, size_t limit, double share);

#endif
