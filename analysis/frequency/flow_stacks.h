/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Directions of branches from call stacks, for code in which no edges are sampled.
 *
 * A stack in a call shows that control reaches the call. If only one direction of a branch leads to
 * calls with stacks, it is likely the usual one. The other one is mostly the path of an error. That
 * path is shorter and has no samples either, so that samples of time alone would prefer it. If
 * several directions lead to such calls, the stacks are weak evidence: they are shares of time.
 */
#ifndef DCPI_FLOW_STACKS_H
#define DCPI_FLOW_STACKS_H

#include "analysis/frequency/frequency.h"

/**
 * flow_stacks_take() - add directions to branches without sampled ones
 * @seen: of each edge; out
 *
 * Does nothing without stacks, and in large procedures. Return: 0 or -ENOMEM.
 */
int flow_stacks_take(double *seen, const struct frequency_input *input);

#endif
