/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bubbles: the lines above an instruction that stalled, one for each half-cycle that
 * was lost (DCPI Figure 2). A letter stands for each cause that may have a share in
 * it; the first time it appears, its meaning stands beside it. Of long stalls three
 * lines are left, with the cycles in the middle.
 *
 *	  dwD                     (d = D-cache miss)
 *	  dwD  ...  18.0cy
 *	  dwD                     (w = write-buffer overflow, D = DTB miss)
 */
#ifndef DCPI_CALC_BUBBLES_H
#define DCPI_CALC_BUBBLES_H

#include <stdint.h>

#include "analysis/culprit/culprit.h"

#define CALC_BUBBLE_BYTES 160
#define CALC_BUBBLES_MAX 24
/* Causes that an instruction can have at most. */
#define CALC_BUBBLE_CAUSES (CULPRIT_CAUSES + 1)

/** struct calc_legend - letters that were explained so far; zero-initialised: none. */
struct calc_legend {
	uint32_t causes;
	uint32_t stalls;
};

/**
 * struct calc_bubbles - lines, in order
 * @count: of @lines
 */
struct calc_bubbles {
	char lines[CALC_BUBBLES_MAX][CALC_BUBBLE_BYTES];
	unsigned int count;
};

/**
 * calc_bubbles_make() - the bubbles of an instruction
 * @legend:   updated
 * @schedule: its static stalls
 * @cpi:      its cycles, with @culprits the list that cpi->first is an index into
 *
 * First static stalls, then the dynamic one, if it is more than noise. No bubbles where
 * cycles are not known.
 */
void calc_bubbles_make(struct calc_bubbles *ret, struct calc_legend *legend,
		       const struct schedule_insn *schedule, const struct instruction_cpi *cpi,
		       const struct culprit *culprits);

/**
 * calc_bubbles_causes() - the causes that the dynamic stall of an instruction may have, in
 * the order of Figure 2
 *
 * Return: how many; 0: there is no stall of half a cycle that is more than noise.
 */
unsigned int calc_bubbles_causes(enum culprit_cause ret[CALC_BUBBLE_CAUSES],
				 const struct schedule_insn *schedule,
				 const struct instruction_cpi *cpi, const struct culprit *culprits);

/** calc_bubbles_cause() - what a cause is called in prose: "D-cache miss". */
const char *calc_bubbles_cause(enum culprit_cause cause);

/** calc_bubbles_stall() - likewise of a static one. */
const char *calc_bubbles_stall(enum stall_kind kind);

#endif
