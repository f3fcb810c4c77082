/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Average trip counts of loops whose bounds depend on the iterations of outer loops: triangles
 * (pairs i < j), pyramids (elimination in a matrix). Internal to trip_count.c.
 */
#ifndef DCPI_TRIP_MEAN_H
#define DCPI_TRIP_MEAN_H

#include "analysis/graph/loop_nest.h"
#include "analysis/graph/trip_series.h"

#define TRIP_TERMS_MAX 3
/* Limit on the steps for all loops of a graph: far more than real code needs. */
#define TRIP_MEAN_STEPS (1U << 20)

/**
 * struct trip_form - the trip count of a loop as a linear form
 * @series: in the first iterations of the outer loops
 * @terms:  outer loops, and by how much each of their iterations changes @series.end
 * @known:  the form is known
 * @last:   the branch that leaves comes last: the rest of the body was executed before
 */
struct trip_form {
	struct trip_series series;
	struct {
		uint32_t loop;
		int64_t step;
	} terms[TRIP_TERMS_MAX];
	uint32_t term_count;
	bool known;
	bool last;
};

/**
 * trip_mean_trips() - compute the average executions of a loop's branch per entry
 * @forms: of each loop
 * @steps: in, out: remaining steps; TRIP_MEAN_STEPS for a graph
 *
 * The loop is assumed to be entered once in each iteration of the loop around it, except when its
 * trip count would be 0. Long outer loops are sampled at 128 iterations.
 *
 * Return: > 0; 0 if unknown.
 */
double trip_mean_trips(const struct trip_form *forms, const struct loop_nest *nest, uint32_t loop,
		       uint32_t *steps);

#endif
