/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Best case of short loops on out-of-order machines.
 *
 * The last iterations of a loop that executes few instructions in one activation overlap with the
 * first ones of the next activation. The dependences from one iteration to the next are then no
 * bound of the time.
 */
#ifndef DCPI_LOOP_OVERLAP_H
#define DCPI_LOOP_OVERLAP_H

#include "analysis/frequency/frequency.h"

/**
 * loop_overlap() - lower the best case of short loops to schedule.block_least
 * @schedule:  of an out-of-order machine. Cycles of instructions keep their proportions
 * @frequency: complete estimates, from which the iterations of an activation follow
 */
void loop_overlap(struct schedule *schedule, const struct frequency *frequency,
		  const struct cfg *cfg);

#endif
