/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stack height: the stack pointer's offset from its value on entry to the procedure. If the frame
 * has been released at a jump out of the procedure, the jump is a tail call.
 */
#ifndef DCPI_STACK_HEIGHT_H
#define DCPI_STACK_HEIGHT_H

#include "analysis/graph/cfg.h"

#define STACK_HEIGHT_UNKNOWN INT64_MIN

/**
 * stack_height_find() - find the heights at the ends of blocks
 * @heights: out, malloc'd: height at each block's end, in bytes; STACK_HEIGHT_UNKNOWN
 *
 * Return: 0 or -ENOMEM.
 */
int stack_height_find(int64_t **heights, const struct cfg *cfg);

/** stack_height_insns() - the same before each instruction */
int stack_height_insns(int64_t **heights, const struct cfg *cfg);

#endif
