/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Frequencies of branches from the times between consecutive executions.
 *
 * A probe (daemon/source/branch_probes.h) of a branch with a moderate execution rate measures these
 * times (gaps) without slowing the program down. In each gap the program executes code of a loop
 * around the branch. So the samples of the loop divided by the expected samples per gap are the
 * executions of the branch. This needs neither a model of the code nor the directions of its
 * branches.
 *
 * The loop must be chosen so that control does not leave it during a gap. While a branch is probed,
 * for about ten milliseconds, control may leave an inner loop and come back. So the loop is the
 * innermost one in which control stays for longer than that, or one that takes nearly all of the
 * sampled time.
 */
#ifndef DCPI_FLOW_GAPS_H
#define DCPI_FLOW_GAPS_H

#include "analysis/frequency/flow_fit.h"
#include "analysis/frequency/frequency.h"

/**
 * flow_gaps_take() - add evidence to blocks whose branches have measured gaps
 * @evidence: out: replaces the evidence from the blocks' own time, which is far weaker
 * @fit:      result without this evidence; provides the entries of loops
 *
 * Other loops with calls are ignored, because the samples of their callees are elsewhere. Kernel
 * work for a loop (page faults) is counted as the loop's own.
 *
 * O(measured branches x (blocks + edges) x depth of loops).
 *
 * Return: the number of blocks, or -ENOMEM.
 */
int flow_gaps_take(struct flow_evidence *evidence, const struct flow_fit *fit,
		   const struct flow_chain *chain, const struct frequency_input *input);

#endif
