/* SPDX-License-Identifier: GPL-2.0-only */
/* How often loops iterate, by their clocks (loop_clock.h), as evidence for the fit of the flow. */
#ifndef DCPI_FLOW_CLOCKS_H
#define DCPI_FLOW_CLOCKS_H

#include "analysis/frequency/flow_fit.h"
#include "analysis/frequency/frequency.h"

/**
 * flow_clocks_take() - give a block of each loop with a clock the evidence of the clock
 * @evidence: out: of these blocks; replaces the evidence of their own time
 *
 * Return: how many there are, or -ENOMEM.
 */
int flow_clocks_take(struct flow_evidence *evidence, const struct frequency_input *input);

#endif
