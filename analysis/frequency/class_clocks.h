/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often loops iterate, by their clocks (loop_clock.h), as evidence of classes.
 *
 * A clock does not depend on the model of the processor. It takes the place of the evidence of its
 * class's time. If the model is that of another processor, or the processor is emulated, the time
 * is wrong by any factor: the clock wins, and bounds that contradict it are dropped.
 */
#ifndef DCPI_CLASS_CLOCKS_H
#define DCPI_CLASS_CLOCKS_H

#include "analysis/frequency/frequency.h"
#include "analysis/frequency/frequency_evidence.h"

/**
 * class_clocks_take() - replace the evidence of classes with clocks
 * @evidence: of frequency_evidence_find()
 * @measured: out: true for these classes; initially false
 *
 * Return: 0 or -ENOMEM.
 */
int class_clocks_take(struct frequency_evidence *evidence, bool *measured,
		      const struct frequency_input *input);

#endif
