/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An upper bound of the time that another layout of the code can save.
 *
 * Layout changes which blocks and procedures are adjacent. It can save misses of the I-cache and
 * the ITB, mispredictions (fewer branches share an entry of the predictor), and taken branches that
 * become fall-throughs. It changes neither data accesses nor the work of the program. The bound is
 * the sum of the upper bounds of these causes, and of all time that the analysis cannot attribute.
 */
#ifndef DCPI_LAYOUT_BOUND_H
#define DCPI_LAYOUT_BOUND_H

#include "analysis/culprit/stall_summary.h"
#include "analysis/procedure_analysis.h"

struct image_code;

/*
 * Cycles that a predicted taken branch costs at most compared with a fall-through: the bubble of a
 * fetch unit whose target comes from a second-level buffer.
 */
#define LAYOUT_BOUND_TAKEN_CYCLES 2.0

/**
 * struct layout_bound - zero-initialised: no procedures
 * @sum:       the analysed procedures
 * @taken:     executions of direct jumps and taken branches, at most
 * @removable: of @taken, those that a layout can replace by fall-throughs
 */
struct layout_bound {
	struct stall_summary sum;
	double taken;
	double removable;
};

/** layout_bound_add() - add a procedure of an image. Return: 0 or -ENOMEM */
int layout_bound_add(struct layout_bound *bound, struct image_code *code,
		     const struct procedure_analysis *analysis);

/**
 * layout_bound_samples() - return the bound, in samples of time
 * @samples: of the image, including procedures that were not analysed
 * @period:  cycles that a sample stands for
 */
double layout_bound_samples(const struct layout_bound *bound, double samples, double period);

#endif
