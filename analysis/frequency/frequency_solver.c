// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/frequency_solver.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/frequency/density.h"
#include "analysis/frequency/sparse_factor.h"
#include "lib/cleanup.h"

/* Converged if no mean moves by more than this part of its standard deviation. */
#define SETTLED 0.05
/* Changes of the cavity that are ignored: of its mean in standard deviations, of its variance. */
#define LIKE_MEAN 0.03
#define LIKE_VARIANCE 0.05
/*
 * Step size of updates, below 1 because parallel updates of neighbours overshoot. After
 * DAMPING_ROUNDS iterations it shrinks further, so that classes that oscillate end in the middle.
 */
#define DAMPING 0.7
#define DAMPING_ROUNDS 10
/*
 * Conservation holds to this part of a node's flow, because calls may not return and traps happen.
 */
#define TOLERANCE 0.002
/* Tolerance near unresolved jumps, because not all of their targets may be known. */
#define TOLERANCE_LOOSE 0.1
/* Greatest and least standard deviation of a class's Gaussian, relative to its bound. */
#define WIDEST 4.0
/* Standard deviations that contain practically all of a Gaussian. */
#define INSIDE 3.0
#define NARROWEST 1e-5
/* Most multiplications of a factorization; more would take longer than half a second in all. */
#define WORK_MAX 2e7

/* struct site - a Gaussian in natural parameters */
struct site {
	double precision;
	double shift; /* precision times mean */
};

/*
 * struct stand_in - approximation of a class's evidence
 * @site:   current approximation
 * @target: approximation that is exact in combination with @cavity
 */
struct stand_in {
	struct site site;
	struct site target;
	struct density_moments cavity;
	double tilted; /* mean of the product of evidence and cavity */
};

struct solver {
	const struct frequency_problem *problem;
	const struct frequency_density *densities; /* evidence in use */
	struct sparse_factor *factor;
	struct sparse_entry *entries; /* terms of constraints, then links */
	double *values;
	double *diagonal;
	double *mean;	  /* classes, then multipliers of constraints */
	double *variance; /* like @mean */
	double *scale;	  /* of constraints: upper bound of the node's flow */
	struct stand_in *classes;
	struct density_grid grid;
	double damping; /* of this iteration */
	size_t entry_count;
	size_t term_entries;
	uint32_t size;
};

/* The flow through a node is at most the possible inflow and at most the possible outflow. */
static double bound_of_constraint(const double *bounds, const struct flow_constraints *c,
				  uint32_t k)
{
	double in = 0, out = 0;

	for (uint32_t t = c->first[k]; t < c->first[k + 1]; t++) {
		if (c->terms[t].sign > 0)
			in += bounds[c->terms[t].class];
		else
			out += bounds[c->terms[t].class];
	}
	return fmin(in, out);
}

#define SPREAD_ROUNDS 4

void frequency_bounds_spread(double *bounds, uint32_t class_count, const struct flow_constraints *c)
{
	double greatest = 0;

	for (int round = 0; round < SPREAD_ROUNDS; round++) {
		for (uint32_t k = 0; k < c->count; k++) {
			double bound = bound_of_constraint(bounds, c, k);

			for (uint32_t t = c->first[k]; t < c->first[k + 1]; t++)
				bounds[c->terms[t].class] = fmin(bounds[c->terms[t].class], bound);
		}
	}
	for (uint32_t k = 0; k < class_count; k++) {
		if (!isinf(bounds[k]))
			greatest = fmax(greatest, bounds[k]);
	}
	for (uint32_t k = 0; k < class_count; k++) {
		if (isinf(bounds[k]))
			bounds[k] = greatest > 0 ? greatest : 1;
	}
}

static void solver_deinit(struct solver *s)
{
	sparse_factor_destroy(s->factor);
	free(s->entries);
	free(s->values);
	free(s->diagonal);
	free(s->mean);
	free(s->variance);
	free(s->scale);
	free(s->classes);
	free(s->grid.x);
	free(s->grid.weight);
}

static void list_entries(struct solver *s)
{
	const struct frequency_problem *p = s->problem;
	const struct flow_constraints *c = p->constraints;

	for (uint32_t k = 0; k < c->count; k++) {
		for (uint32_t t = c->first[k]; t < c->first[k + 1]; t++) {
			s->entries[s->entry_count] =
				(struct sparse_entry){p->class_count + k, c->terms[t].class};
			s->values[s->entry_count++] = c->terms[t].sign;
		}
		s->scale[k] = bound_of_constraint(p->bounds, c, k);
	}
	s->term_entries = s->entry_count;
	for (size_t l = 0; l < p->link_count; l++)
		s->entries[s->entry_count++] =
			(struct sparse_entry){p->links[l].class, p->links[l].of};
}

static int solver_init(struct solver *s, const struct frequency_problem *p)
{
	const struct flow_constraints *c = p->constraints;
	size_t entries = (size_t)c->first[c->count] + p->link_count + 1;
	uint32_t most = 0;

	*s = (struct solver){.problem = p, .size = p->class_count + c->count};
	for (uint32_t k = 0; k < p->class_count; k++) {
		most = p->densities[k].count > most ? p->densities[k].count : most;
		if (p->first != NULL)
			most = p->first[k].count > most ? p->first[k].count : most;
	}
	s->grid.capacity = most + DENSITY_CAVITY_POINTS + DENSITY_FLAT_POINTS;
	s->entries = malloc(entries * sizeof(*s->entries));
	s->values = calloc(entries, sizeof(*s->values));
	s->diagonal = calloc((size_t)s->size + 1, sizeof(double));
	s->mean = calloc((size_t)s->size + 1, sizeof(double));
	s->variance = calloc((size_t)s->size + 1, sizeof(double));
	s->scale = calloc((size_t)c->count + 1, sizeof(double));
	s->classes = calloc((size_t)p->class_count + 1, sizeof(*s->classes));
	s->grid.x = malloc(s->grid.capacity * sizeof(double));
	s->grid.weight = malloc(s->grid.capacity * sizeof(double));
	if (s->entries == NULL || s->values == NULL || s->diagonal == NULL || s->mean == NULL ||
	    s->variance == NULL || s->scale == NULL || s->classes == NULL || s->grid.x == NULL ||
	    s->grid.weight == NULL)
		return -ENOMEM;
	list_entries(s);
	return sparse_factor_create(&s->factor, s->size, s->entries, s->entry_count, WORK_MAX);
}

static const struct density_moments nothing = {.mean = 0, .variance = INFINITY};

static struct site site_of(const struct solver *s, uint32_t class, const struct density_moments *m)
{
	double bound = s->problem->bounds[class];
	double variance =
		fmin(fmax(m->variance, pow(NARROWEST * bound, 2)), pow(WIDEST * bound, 2));

	return (struct site){1 / variance, m->mean / variance};
}

/* Return true if all of a Gaussian is in the range of possible frequencies. */
static bool frequency_solver_is_inside(const struct density_moments *m, double bound)
{
	double reach = INSIDE * sqrt(m->variance);

	return m->mean - reach > 0 && m->mean + reach < bound;
}

/*
 * Return the moments of a class's density combined with @cavity; most classes without evidence need
 * no grid.
 */
static struct density_moments tilt(struct solver *s, uint32_t k,
				   const struct density_moments *cavity)
{
	const struct frequency_density *evidence = &s->densities[k];
	double bound = s->problem->bounds[k];

	if (evidence->count == 0 && isinf(cavity->variance))
		return (struct density_moments){bound / 2, bound * bound / 12};
	if (evidence->count == 0 && frequency_solver_is_inside(cavity, bound))
		return *cavity;
	density_multiply(&s->grid, evidence, cavity, bound);
	return density_moments(&s->grid);
}

static void frequency_solver_start(struct solver *s)
{
	const struct frequency_problem *p = s->problem;

	for (uint32_t k = 0; k < p->class_count; k++) {
		struct density_moments m = tilt(s, k, &nothing);

		s->classes[k].site = site_of(s, k, &m);
		s->classes[k].cavity.variance = NAN;
		s->mean[k] = m.mean;
	}
}

static double tolerance_of(const struct frequency_problem *problem, uint32_t constraint)
{
	return problem->constraints->loose[constraint] ? TOLERANCE_LOOSE : TOLERANCE;
}

/*
 * Compute the joint Gaussian of all sites, constraints and links: precision times mean = shift,
 * with a multiplier for each constraint.
 */
static int join(struct solver *s)
{
	const struct frequency_problem *p = s->problem;
	double *diagonal = s->diagonal;
	int r;

	for (uint32_t k = 0; k < p->class_count; k++)
		diagonal[k] = s->classes[k].site.precision;
	for (uint32_t k = 0; k < p->constraints->count; k++)
		diagonal[p->class_count + k] = -pow(tolerance_of(p, k) * s->scale[k], 2);
	for (size_t l = 0; l < p->link_count; l++) {
		const struct frequency_link *link = &p->links[l];
		double flow = fmax(s->mean[link->of], 1e-3 * p->bounds[link->of]);
		double precision = 1 / pow(link->error * flow, 2);

		diagonal[link->class] += precision;
		diagonal[link->of] += precision * link->share * link->share;
		s->values[s->term_entries + l] = -precision * link->share;
	}
	r = sparse_factor_compute(s->factor, diagonal, s->values);
	if (r < 0)
		return r;
	for (uint32_t k = 0; k < s->size; k++)
		s->mean[k] = k < p->class_count ? s->classes[k].site.shift : 0;
	sparse_factor_solve(s->factor, s->mean);
	sparse_factor_inverse_diagonal(s->factor, s->variance);
	return 0;
}

/*
 * Return the evidence from the rest of the system: the joint Gaussian without the class's own site.
 */
static struct density_moments cavity_of(const struct solver *s, uint32_t class)
{
	double variance = s->variance[class];
	double precision = 1 / variance - s->classes[class].site.precision;
	double widest = WIDEST * s->problem->bounds[class];

	if (!(variance > 0) || !(precision > 1 / (widest * widest)))
		return nothing;
	return (struct density_moments){
		.mean = (s->mean[class] / variance - s->classes[class].site.shift) / precision,
		.variance = 1 / precision,
	};
}

/* Return true if the change is too small to update the target. */
static bool is_like(const struct density_moments *a, const struct density_moments *b)
{
	if (isinf(a->variance) || isinf(b->variance))
		return a->variance == b->variance;
	return fabs(a->variance - b->variance) < LIKE_VARIANCE * b->variance &&
	       fabs(a->mean - b->mean) < LIKE_MEAN * sqrt(b->variance);
}

/* Find the site that gives a class the moments of its density combined with the cavity. */
static void find_target(struct solver *s, uint32_t k, const struct density_moments *cavity)
{
	struct stand_in *class = &s->classes[k];
	double bound = s->problem->bounds[k];
	double least = 1 / (WIDEST * WIDEST * bound * bound);
	struct density_moments tilted = tilt(s, k, cavity);

	if (tilted.variance < NARROWEST * NARROWEST * bound * bound)
		tilted.variance = NARROWEST * NARROWEST * bound * bound;
	class->cavity = *cavity;
	class->tilted = tilted.mean;
	class->target = (struct site){1 / tilted.variance, tilted.mean / tilted.variance};
	if (!isinf(cavity->variance)) {
		class->target.precision -= 1 / cavity->variance;
		class->target.shift -= cavity->mean / cavity->variance;
	}
	/*
	 * The product is wider than the cavity alone. Matching the mean with almost no weight would
	 * need a shift so large that the mean would become arbitrary when other sites change.
	 */
	if (class->target.precision < least)
		class->target = (struct site){least, tilted.mean * least};
}

/* Update a class. Return: distance of the mean from its target, in standard deviations. */
static double improve(struct solver *s, uint32_t k)
{
	struct stand_in *class = &s->classes[k];
	struct density_moments cavity = cavity_of(s, k);
	double moved;

	if (!is_like(&cavity, &class->cavity))
		find_target(s, k, &cavity);
	moved = s->variance[k] > 0 ? fabs(class->tilted - s->mean[k]) / sqrt(s->variance[k]) : 0;
	class->site.precision += s->damping * (class->target.precision - class->site.precision);
	class->site.shift += s->damping * (class->target.shift - class->site.shift);
	return moved;
}

static struct frequency_marginal marginal_of(struct solver *s, uint32_t k)
{
	static const double shares[] = {0.05, 0.5, 0.95};
	const struct frequency_density *evidence = &s->densities[k];
	struct density_moments cavity = cavity_of(s, k);
	double quantiles[3];

	if (evidence->count == 0 && !isinf(cavity.variance) &&
	    frequency_solver_is_inside(&cavity, s->problem->bounds[k])) {
		double reach = 1.645 * sqrt(cavity.variance);

		return (struct frequency_marginal){cavity.mean, cavity.mean - reach,
						   cavity.mean + reach};
	}
	density_multiply(&s->grid, evidence, &cavity, s->problem->bounds[k]);
	density_quantiles(quantiles, &s->grid, shares, 3);
	return (struct frequency_marginal){quantiles[1], quantiles[0], quantiles[2]};
}

/* Update all classes repeatedly, from their current state. */
static int frequency_solver_settle(struct solver *s)
{
	const struct frequency_problem *p = s->problem;
	double moved = INFINITY;
	int r = 0;

	for (uint32_t k = 0; k < p->class_count; k++)
		s->classes[k].cavity.variance = NAN;
	for (unsigned int round = 0; r == 0 && round < p->rounds && moved >= SETTLED; round++) {
		moved = 0;
		s->damping = DAMPING * fmin(1, DAMPING_ROUNDS / (round + 1.0));
		for (uint32_t k = 0; k < p->class_count; k++)
			moved = fmax(moved, improve(s, k));
		r = join(s);
	}
	return r;
}

int frequency_solve(struct frequency_marginal *ret, const struct frequency_problem *problem)
{
	struct solver s;
	int r = solver_init(&s, problem);

	if (r == 0) {
		s.densities = problem->first != NULL ? problem->first : problem->densities;
		frequency_solver_start(&s);
		r = join(&s);
	}
	if (r == 0)
		r = frequency_solver_settle(&s);
	if (r == 0 && s.densities != problem->densities) {
		s.densities = problem->densities;
		r = frequency_solver_settle(&s);
	}
	for (uint32_t k = 0; r == 0 && k < problem->class_count; k++)
		ret[k] = marginal_of(&s, k);
	solver_deinit(&s);
	return r == -EDOM ? -E2BIG : r;
}
