/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Comparison of the factors of procedures (call_network.h) by branches that were probed together.
 *
 * While two branches are probed, both are slowed down equally, so the ratio of their executions is
 * known well. The estimates give the same ratio up to the factors of the two procedures. The ratio
 * is more accurate if complete reference iterations were counted (PROFILE_EDGE_REFERENCE_INTERVAL).
 * All comparisons of two procedures are combined to one pair.
 */
#ifndef DCPI_PROBE_PAIRS_H
#define DCPI_PROBE_PAIRS_H

#include "analysis/frequency/frequency_estimators.h"
#include "analysis/image_samples.h"
#include "analysis/place_list.h"
#include "analysis/procedure_analysis.h"

/**
 * struct probed - executions of a branch while another one was probed, too
 * @at, @other: places of the two branches
 * @procedure:  procedure of @at
 * @count:      executions of @at
 * @whole:      in complete reference iterations
 * @executions: estimated executions of @at, > 0
 * @spread:     standard deviation of the logarithm of @executions, apart from the procedure's
 *              factor
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
 * probe_pairs_add() - add the probed branches of a procedure
 * @probed:    list of struct probed
 * @procedure: its index in the network
 * @scale:     of its factor
 *
 * Return: 0 or -ENOMEM.
 */
int probe_pairs_add(struct place_list *probed, const struct image_code *code,
		    const struct image_samples *samples, const struct procedure_analysis *analysis,
		    uint32_t procedure, const struct frequency_flow_scale *scale);

/**
 * probe_pairs_find() - compare procedures
 * @probed: list of struct probed; sorted here
 * @pairs:  list of struct call_network_pair; one is added for each two procedures, with @part 0
 *
 * Return: 0 or -ENOMEM.
 */
int probe_pairs_find(struct place_list *probed, struct place_list *pairs);

#endif
