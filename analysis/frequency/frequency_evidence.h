/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Evidence of the frequency of a class from its samples, on an in-order machine.
 *
 * Each issue point has S samples, M cycles, and an unknown number d >= 0 of cycles of dynamic
 * stalls: S is Poisson with mean F (M + d). The distribution of d depends on the stalls to which
 * the instruction is exposed: most instructions have none, the others may have short or long ones.
 * Given all points of a class, the density of F has its peak where the unstalled points agree, even
 * if they are few. A minimum of the ratios S / M would be too low, an average too high.
 */
#ifndef DCPI_FREQUENCY_EVIDENCE_H
#define DCPI_FREQUENCY_EVIDENCE_H

#include "analysis/frequency/frequency_solver.h"
#include "analysis/frequency/issue_point.h"

/** struct frequency_evidence - densities and upper bounds of the frequencies of all classes. */
struct frequency_evidence {
	struct frequency_density *densities;
	double *bounds; /* INFINITY: no bound known */
	double *memory; /* memory that @densities points into, @clocks: of class_clocks_take() */
	double *clocks;
};

/**
 * frequency_evidence_find() - compute the evidence of all classes
 * @ret: out; freed by frequency_evidence_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int frequency_evidence_find(struct frequency_evidence *ret, const struct frequency_input *input,
			    const struct issue_points *points);

void frequency_evidence_deinit(struct frequency_evidence *evidence);

#endif
