/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bubbles: the lines above an instruction that stalled, one for each half-cycle lost (DCPI Figure
 * 2). A line has a letter for each possible cause; where a letter first appears, its meaning is
 * printed to the right. Long stalls are shortened to three lines, with the cycles in the middle.
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
/* Maximum number of causes of an instruction's stall. */
#define CALC_BUBBLE_CAUSES (CULPRIT_CAUSES + 1)

/** struct calc_legend - letters explained so far; zero-initialised: none */
struct calc_legend {
	uint32_t causes;
	uint32_t stalls;
};

/**
 * struct calc_bubbles - lines, from top to bottom
 * @count: of @lines
 */
struct calc_bubbles {
	char lines[CALC_BUBBLES_MAX][CALC_BUBBLE_BYTES];
	unsigned int count;
};

/**
 * calc_bubbles_make() - make the bubbles of an instruction
 * @legend:   updated
 * @schedule: its static stalls
 * @cpi:      its cycles
 * @culprits: the list into which @cpi->first is an index
 *
 * Static stalls come first, then the dynamic one if it is significant. There are no bubbles if the
 * cycles are not known.
 */
void calc_bubbles_make(struct calc_bubbles *ret, struct calc_legend *legend,
		       const struct schedule_insn *schedule, const struct instruction_cpi *cpi,
		       const struct culprit *culprits);

/**
 * calc_bubbles_causes() - list the possible causes of an instruction's dynamic stall, in the order
 * of Figure 2
 *
 * Return: their number; 0: no significant stall of at least half a cycle.
 */
unsigned int calc_bubbles_causes(enum culprit_cause ret[CALC_BUBBLE_CAUSES],
				 const struct schedule_insn *schedule,
				 const struct instruction_cpi *cpi, const struct culprit *culprits);

/** calc_bubbles_cause() - return the name of a cause in prose: "D-cache miss" */
const char *calc_bubbles_cause(enum culprit_cause cause);

/**
 * calc_bubbles_relation() - return the word between a cause and the causing instruction: "of"
 */
const char *calc_bubbles_relation(enum culprit_cause cause);

/** calc_bubbles_stall() - return the name of a static stall in prose */
const char *calc_bubbles_stall(enum stall_kind kind);

#endif
