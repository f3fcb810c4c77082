// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/trip_mean.h"

#define PATH_MAX_LOOPS 8
#define PLACES 128

/*
 * struct walk - traversal of the iterations of the loops around a loop
 * @path:  the outer loops, from the outermost relevant one, and the loop itself
 * @iteration: current iteration of each loop of @path
 * @steps: remaining steps
 */
struct walk {
	const struct trip_form *forms;
	uint32_t path[PATH_MAX_LOOPS];
	int64_t iteration[PATH_MAX_LOOPS];
	uint32_t depth;
	uint32_t *steps;
	double entries;
	double executions;
};

/* Return the trip count of a loop of the path; 0: it is not entered, or unknown. */
static double trips_at(const struct walk *walk, uint32_t at)
{
	const struct trip_form *form = &walk->forms[walk->path[at]];
	struct trip_series series = form->series;

	for (uint32_t t = 0; t < form->term_count; t++) {
		for (uint32_t i = 0; i < at; i++) {
			if (walk->path[i] == form->terms[t].loop)
				series.end = insn_sum(series.end, insn_product(form->terms[t].step,
									       walk->iteration[i]));
		}
	}
	if (form->last && trip_series_is_skipped(&series))
		return 0;
	return (double)trip_series_trips(&series);
}

/* Return true if the trip count of any inner loop depends on the iterations of this one. */
static bool is_depended_on(const struct walk *walk, uint32_t at)
{
	for (uint32_t i = at + 1; i < walk->depth; i++) {
		const struct trip_form *form = &walk->forms[walk->path[i]];

		for (uint32_t t = 0; t < form->term_count; t++) {
			if (form->terms[t].loop == walk->path[at])
				return true;
		}
	}
	return false;
}

/* @weight: executions of this point. Return: false if it takes too many steps. */
static bool go_in(struct walk *walk, uint32_t at, double weight)
{
	const struct trip_form *form = &walk->forms[walk->path[at]];
	double trips, bodies;

	if (*walk->steps == 0)
		return false;
	--*walk->steps;
	trips = form->known ? trips_at(walk, at) : 1;
	if (trips <= 0)
		return true;
	if (at + 1 == walk->depth) {
		walk->entries += weight;
		walk->executions += weight * trips;
		return true;
	}
	bodies = form->last || !form->known ? trips : trips - 1;
	if (!is_depended_on(walk, at))
		return go_in(walk, at + 1, weight * bodies);
	for (uint32_t i = 0; i < bodies && i < PLACES; i++) {
		double part = bodies > PLACES ? bodies / PLACES : 1;

		walk->iteration[at] = bodies > PLACES ? (int64_t)((i + 0.5) * part) : i;
		if (!go_in(walk, at + 1, weight * part))
			return false;
	}
	return true;
}

/*
 * Find the loops from the outermost that any of them depends on. Return: false if there are too
 * many.
 */
static bool find_path(struct walk *walk, const struct loop_nest *nest, uint32_t loop)
{
	uint32_t reversed[PATH_MAX_LOOPS], count = 0, wanted = loop;

	for (uint32_t at = loop; at != LOOP_NEST_NONE && at >= wanted;
	     at = nest->loops[at].parent) {
		const struct trip_form *form = &walk->forms[at];

		if (count == PATH_MAX_LOOPS)
			return false;
		reversed[count++] = at;
		for (uint32_t t = 0; form->known && t < form->term_count; t++) {
			if (form->terms[t].loop < wanted)
				wanted = form->terms[t].loop;
		}
	}
	while (count > 0)
		walk->path[walk->depth++] = reversed[--count];
	return true;
}

double trip_mean_trips(const struct trip_form *forms, const struct loop_nest *nest, uint32_t loop,
		       /* NOLINTNEXTLINE(readability-non-const-parameter): counted through walk */
		       uint32_t *steps)
{
	struct walk walk = {.forms = forms, .steps = steps};

	if (!forms[loop].known)
		return 0;
	if (forms[loop].term_count == 0)
		return (double)trip_series_trips(&forms[loop].series);
	if (!find_path(&walk, nest, loop))
		return 0;
	for (uint32_t i = 0; i < walk.depth; i++) {
		if (!forms[walk.path[i]].known && is_depended_on(&walk, i))
			return 0;
	}
	if (!go_in(&walk, 0, 1) || walk.entries <= 0)
		return 0;
	return walk.executions / walk.entries;
}
