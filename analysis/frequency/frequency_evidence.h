/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a class's samples say of its frequency on an in-order machine.
 *
 * Each issue point has S samples and M cycles, and d >= 0 cycles of dynamic stalls, which
 * are not known: S is Poisson with mean F (M + d). How d is distributed depends on what the
 * instruction can stall for: most have none, those that have some may have little or much.
 * The density of F given all points of a class has its peak where the unstalled points
 * agree, be they few or many; a minimum of ratios would be too low, an average too high.
 */
#ifndef DCPI_FREQUENCY_EVIDENCE_H
#define DCPI_FREQUENCY_EVIDENCE_H

#include "analysis/frequency/frequency_solver.h"
#include "analysis/frequency/issue_point.h"

/** struct frequency_evidence - densities of all classes, and bounds for their frequencies. */
struct frequency_evidence {
	struct frequency_density *densities;
	double *bounds; /* INFINITY: nothing to go by */
	double *memory; /* of the densities */
};

/**
 * frequency_evidence_find() - of all classes
 * @ret: out; freed by frequency_evidence_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int frequency_evidence_find(struct frequency_evidence *ret, const struct frequency_input *input,
			    const struct issue_points *points);

void frequency_evidence_deinit(struct frequency_evidence *evidence);

#endif
