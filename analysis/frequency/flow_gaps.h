/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often branches were executed, by how long a program goes on from one execution to the
 * next.
 *
 * A probe (daemon/source/branch_probes.h) of a branch that is not too frequent measures that
 * without slowing the program down. All that time the program is somewhere in a loop around the
 * branch; so the loop's samples, divided by those that there are from one execution to the
 * next, are its executions: no model of the code is needed, nor which ways its branches go.
 *
 * Which loop? While it is probed, for some ten milliseconds, control may leave an inner one and
 * come back. So the innermost one in which control stays for longer than that; or one that
 * takes nearly all of the time that was sampled.
 */
#ifndef DCPI_FLOW_GAPS_H
#define DCPI_FLOW_GAPS_H

#include "analysis/frequency/flow_fit.h"
#include "analysis/frequency/frequency.h"

/**
 * flow_gaps_take() - let blocks whose branches were measured have evidence of that
 * @evidence: out: of these blocks; takes the place of their own time, which says far less
 * @fit:      as is known without: tells how often loops are entered
 *
 * Other loops with calls are left out: samples of what they call are elsewhere. What the kernel
 * does for a loop (page faults) is taken for the loop's own.
 *
 * O(measured branches x (blocks + edges) x depth of loops).
 *
 * Return: how many blocks, or -ENOMEM.
 */
int flow_gaps_take(struct flow_evidence *evidence, const struct flow_fit *fit,
		   const struct flow_chain *chain, const struct frequency_input *input);

#endif
