// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency_solver.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/density.h"
#include "analysis/sparse_factor.h"
#include "lib/cleanup.h"

#define ITERATIONS 20
/* Enough, once no mean moves by more than this part of its deviation. */
#define SETTLED 0.02
/* New for old: parallel updates of neighbours overshoot. */
#define DAMPING 0.7
/* Conservation holds to this part of a node's flow: calls may not return, traps happen. */
#define TOLERANCE 0.002
/* A class's Gaussian is never wider than this times its bound, nor narrower. */
#define WIDEST 4.0
#define NARROWEST 1e-5
/* Factors with more elements than this for each row are given up on. */
#define FILL_PER_ROW 400

/* The Gaussian that stands for a class's evidence, in natural parameters. */
struct site {
	double precision;
	double shift; /* precision times mean */
};

struct solver {
	const struct frequency_problem *problem;
	struct sparse_factor *factor;
	struct sparse_entry *entries; /* constraints' terms, then links */
	double *values;
	double *diagonal;
	double *mean;	  /* classes, then multipliers of constraints */
	double *variance; /* likewise */
	double *scale;	  /* of constraints: a bound for what flows through */
	struct site *sites;
	struct density_grid grid;
	size_t entry_count;
	size_t term_entries;
	uint32_t size;
};

/* What flows through a node is at most what can flow in, and at most what can flow out. */
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
	free(s->sites);
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
	for (uint32_t k = 0; k < p->class_count; k++)
		most = p->densities[k].count > most ? p->densities[k].count : most;
	s->grid.capacity = most + DENSITY_CAVITY_POINTS + DENSITY_FLAT_POINTS;
	s->entries = malloc(entries * sizeof(*s->entries));
	s->values = calloc(entries, sizeof(*s->values));
	s->diagonal = calloc((size_t)s->size + 1, sizeof(double));
	s->mean = calloc((size_t)s->size + 1, sizeof(double));
	s->variance = calloc((size_t)s->size + 1, sizeof(double));
	s->scale = calloc((size_t)c->count + 1, sizeof(double));
	s->sites = calloc((size_t)p->class_count + 1, sizeof(*s->sites));
	s->grid.x = malloc(s->grid.capacity * sizeof(double));
	s->grid.weight = malloc(s->grid.capacity * sizeof(double));
	if (s->entries == NULL || s->values == NULL || s->diagonal == NULL || s->mean == NULL ||
	    s->variance == NULL || s->scale == NULL || s->sites == NULL || s->grid.x == NULL ||
	    s->grid.weight == NULL)
		return -ENOMEM;
	list_entries(s);
	return sparse_factor_create(&s->factor, s->size, s->entries, s->entry_count,
				    FILL_PER_ROW * (size_t)s->size);
}

static const struct density_moments nothing = {.mean = 0, .variance = INFINITY};

static struct site site_of(const struct solver *s, uint32_t class, const struct density_moments *m)
{
	double bound = s->problem->bounds[class];
	double variance =
		fmin(fmax(m->variance, pow(NARROWEST * bound, 2)), pow(WIDEST * bound, 2));

	return (struct site){1 / variance, m->mean / variance};
}

static void start(struct solver *s, struct frequency_marginal *ret)
{
	const struct frequency_problem *p = s->problem;

	for (uint32_t k = 0; k < p->class_count; k++) {
		struct density_moments m;

		density_multiply(&s->grid, &p->densities[k], &nothing, p->bounds[k]);
		m = density_moments(&s->grid);
		s->sites[k] = site_of(s, k, &m);
		s->mean[k] = m.mean;
		ret[k].alone = p->densities[k].count > 0 ? density_quantile(&s->grid, 0.5) : NAN;
	}
}

/*
 * The Gaussian of all sites, constraints and links: precision times mean = shift, with a
 * multiplier for each constraint.
 */
static int join(struct solver *s)
{
	const struct frequency_problem *p = s->problem;
	double *diagonal = s->diagonal;
	int r;

	for (uint32_t k = 0; k < p->class_count; k++)
		diagonal[k] = s->sites[k].precision;
	for (uint32_t k = 0; k < p->constraints->count; k++)
		diagonal[p->class_count + k] = -pow(TOLERANCE * s->scale[k], 2);
	for (size_t l = 0; l < p->link_count; l++) {
		const struct frequency_link *link = &p->links[l];
		double flow = fmax(s->mean[link->of], 1e-3 * p->bounds[link->of]);
		double precision = 1 / pow(fmax(link->error, TOLERANCE) * flow, 2);

		diagonal[link->class] += precision;
		diagonal[link->of] += precision * link->share * link->share;
		s->values[s->term_entries + l] = -precision * link->share;
	}
	r = sparse_factor_compute(s->factor, diagonal, s->values);
	if (r < 0)
		return r;
	for (uint32_t k = 0; k < s->size; k++)
		s->mean[k] = k < p->class_count ? s->sites[k].shift : 0;
	sparse_factor_solve(s->factor, s->mean);
	sparse_factor_inverse_diagonal(s->factor, s->variance);
	return 0;
}

/* What all else says of a class: the joint Gaussian without the class's own site. */
static struct density_moments cavity_of(const struct solver *s, uint32_t class)
{
	double variance = s->variance[class];
	double precision = 1 / variance - s->sites[class].precision;
	double widest = WIDEST * s->problem->bounds[class];

	if (!(variance > 0) || !(precision > 1 / (widest * widest)))
		return nothing;
	return (struct density_moments){
		.mean = (s->mean[class] / variance - s->sites[class].shift) / precision,
		.variance = 1 / precision,
	};
}

/* Give a class's site the moments that its density has among the others. */
static double improve(struct solver *s, uint32_t class)
{
	const struct frequency_problem *p = s->problem;
	struct density_moments cavity = cavity_of(s, class);
	struct density_moments tilted;
	struct site *site = &s->sites[class];
	double bound = p->bounds[class];
	double moved, precision, least = 1 / pow(WIDEST * bound, 2);
	struct site new;

	density_multiply(&s->grid, &p->densities[class], &cavity, bound);
	tilted = density_moments(&s->grid);
	tilted.variance = fmax(tilted.variance, pow(NARROWEST * bound, 2));
	new.precision = 1 / tilted.variance;
	new.shift = tilted.mean / tilted.variance;
	if (!isinf(cavity.variance)) {
		new.precision -= 1 / cavity.variance;
		new.shift -= cavity.mean / cavity.variance;
	}
	/*
	 * Wider than without the evidence. To match the mean with next to no weight would
	 * take a force that throws the mean anywhere once the others yield.
	 */
	if (new.precision < least) {
		new.precision = least;
		new.shift = tilted.mean *least;
	}
	precision = s->variance[class] > 0 ? 1 / s->variance[class] : new.precision;
	moved = fabs(tilted.mean - s->mean[class]) * sqrt(fmin(precision, 1 / tilted.variance));
	site->precision += DAMPING * (new.precision - site->precision);
	site->shift += DAMPING * (new.shift - site->shift);
	return moved;
}

static void conclude(struct solver *s, struct frequency_marginal *ret)
{
	const struct frequency_problem *p = s->problem;

	for (uint32_t k = 0; k < p->class_count; k++) {
		struct density_moments cavity = cavity_of(s, k);

		density_multiply(&s->grid, &p->densities[k], &cavity, p->bounds[k]);
		ret[k].median = density_quantile(&s->grid, 0.5);
		ret[k].low = density_quantile(&s->grid, 0.05);
		ret[k].high = density_quantile(&s->grid, 0.95);
	}
}

int frequency_solve(struct frequency_marginal *ret, const struct frequency_problem *problem)
{
	struct solver s;
	int r = solver_init(&s, problem);

	if (r == 0) {
		start(&s, ret);
		r = join(&s);
	}
	for (int round = 0; r == 0 && round < ITERATIONS; round++) {
		double moved = 0;

		for (uint32_t k = 0; k < problem->class_count; k++)
			moved = fmax(moved, improve(&s, k));
		r = join(&s);
		if (moved < SETTLED)
			break;
	}
	if (r == 0)
		conclude(&s, ret);
	solver_deinit(&s);
	return r == -EDOM ? -E2BIG : r;
}
