/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whether a procedure has given its stack frame back where it jumps away: then the
 * jump is a tail call. Internal to the resolution of jumps.
 */
#ifndef DCPI_STACK_HEIGHT_H
#define DCPI_STACK_HEIGHT_H

#include "analysis/graph/cfg.h"

/**
 * stack_height_find() - how far the stack pointer is from where it was on entry
 * @heights: out, malloc'd: for each block's end, bytes up; STACK_HEIGHT_UNKNOWN
 *
 * Return: 0 or -ENOMEM.
 */
#define STACK_HEIGHT_UNKNOWN INT64_MIN
int stack_height_find(int64_t **heights, const struct cfg *cfg);

#endif
