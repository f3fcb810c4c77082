/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Branches of different procedures that were probed together: what their executions say of
 * the procedures' factors (call_network.h).
 *
 * While two branches are probed, both are slowed down alike, so how often the one was
 * executed for each time of the other is known well; and by the estimates, too, up to the
 * factors of their procedures. Better so where whole
 * rounds were counted (PROFILE_EDGE_ROUND). All that is known of two procedures makes one pair.
 */
#ifndef DCPI_PROBE_PAIRS_H
#define DCPI_PROBE_PAIRS_H

#include "analysis/image_samples.h"
#include "analysis/place_list.h"
#include "analysis/procedure_analysis.h"

/**
 * struct probed - executions of a branch while another one was probed, too
 * @at, @other: where they are
 * @procedure:  of @at
 * @count:      executions of @at
 * @whole:      in whole rounds
 * @executions: the estimate of how often @at is executed, > 0
 * @spread:     how uncertain its logarithm is, beside the procedure's factor
 */
struct probed {
	struct place at;
	struct place other;
	uint32_t procedure;
	double count;
	bool whole;
	double executions;
	double spread;
};

/**
 * probe_pairs_add() - add what was probed in a procedure
 * @probed:       of struct probed
 * @procedure:    its number in the network
 * @scale_spread: how uncertain its factor is
 *
 * Return: 0 or -ENOMEM.
 */
int probe_pairs_add(struct place_list *probed, const struct image_code *code,
		    const struct image_samples *samples, const struct procedure_analysis *analysis,
		    uint32_t procedure, double scale_spread);

/**
 * probe_pairs_find() - compare procedures
 * @probed: of struct probed; sorted here
 * @pairs:  of struct call_network_pair; gets one for each two procedures, of no part
 *
 * Return: 0 or -ENOMEM.
 */
int probe_pairs_find(struct place_list *probed, struct place_list *pairs);

#endif
