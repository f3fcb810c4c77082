/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often loops go round on average whose ends depend on how far the loops around them have
 * got: triangles (pairs i < j), pyramids (elimination in a matrix). Internal to trip_count.c.
 */
#ifndef DCPI_TRIP_MEAN_H
#define DCPI_TRIP_MEAN_H

#include "analysis/graph/loop_nest.h"
#include "analysis/graph/trip_series.h"

#define TRIP_TERMS_MAX 3
/* Steps for all loops of a graph: far more than any but made-up ones take. */
#define TRIP_MEAN_STEPS (1U << 20)

/**
 * struct trip_form - a loop's turns
 * @series: in the first turns of the loops around it
 * @terms:  loops around it, and by how much each of their turns moves @series.end
 * @known:  all this is
 * @last:   what leaves comes last: all else of a turn was executed before
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
 * trip_mean_turns() - executions of a loop's branch for each time that it is entered
 * @forms: of each loop
 * @steps: left; TRIP_MEAN_STEPS for a graph
 *
 * It is taken to be entered once in each turn of the loop around it, but for those in which it
 * would not be gone round. Long loops around it are taken at 128 places.
 *
 * Return: > 0; 0: not known.
 */
double trip_mean_turns(const struct trip_form *forms, const struct loop_nest *nest, uint32_t loop,
		       uint32_t *steps);

#endif
