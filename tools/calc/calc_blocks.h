/* SPDX-License-Identifier: GPL-2.0-only */
/* Which blocks of a procedure are worth showing. */
#ifndef DCPI_CALC_BLOCKS_H
#define DCPI_CALC_BLOCKS_H

#include <stdbool.h>

#include "tools/calc/calc_procedure.h"

/**
 * calc_blocks_is_padding() - whether nothing leads to a block, and nothing says that it
 * ever ran
 * @samples: of it
 */
bool calc_blocks_is_padding(const struct cfg_block *block, double samples);

/**
 * calc_blocks_choose() - choose blocks by their samples; padding is never chosen
 * @limit: only this many, those with most, among equals those that ran most; 0: all
 * @share: only those with at least this share of the procedure's, 0 .. 1
 *
 * Return: malloc'd, by block; NULL if out of memory.
 */
bool *calc_blocks_choose(const struct calc_procedure *procedure, size_t limit, double share);

#endif
