/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stack height at jumps out of a procedure: if the stack frame has been released, the jump is a
 * tail call. Internal to the resolution of jumps.
 */
#ifndef DCPI_STACK_HEIGHT_H
#define DCPI_STACK_HEIGHT_H

#include "analysis/graph/cfg.h"

/**
 * stack_height_find() - find the stack pointer's offset from its value on entry
 * @heights: out, malloc'd: offset at each block's end, in bytes; STACK_HEIGHT_UNKNOWN
 *
 * Return: 0 or -ENOMEM.
 */
#define STACK_HEIGHT_UNKNOWN INT64_MIN
int stack_height_find(int64_t **heights, const struct cfg *cfg);

#endif
