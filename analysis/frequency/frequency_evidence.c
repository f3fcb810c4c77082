// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/frequency_evidence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/frequency/point_likelihood.h"
#include "analysis/frequency/stall_exposure.h"
#include "lib/cleanup.h"

/* Points of a density: evenly spread ones, and some around each of the lowest ratios. */
#define EVEN_POINTS 25
#define RATIOS_MAX 24
#define RATIO_POINTS 9
#define POINTS_MAX (EVEN_POINTS + RATIOS_MAX * RATIO_POINTS)
/* Lowest of the even points, relative to the class's upper bound. */
#define LEAST 1e-4
/* With fewer samples in a class, their number is random, but not its order of magnitude. */
#define FEW_SAMPLES 3.0
/* Greatest ratio of a class's frequency to the ratio of its sums, if some M are too large. */
#define BOUND_SLACK 3.0
/*
 * The upper bound uses the least time of the class's blocks over all edges in, because the edges
 * taken are not known yet. Blocks whose instructions issue with those of the previous block take no
 * time and would have no bound; this part of the class's cycles keeps the scale finite.
 */
#define BOUND_LEAST 0.01
/* Cycles of a misprediction if the model has none. */
#define MISPREDICT_CYCLES 8.0
/* Neighbours are added up while their sum is less than this number of cycles. */
#define JOINED_MOST 1.5

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Insert a ratio and its relative error into the list of the lowest ratios, in ascending order. */
static void add_ratio(double (*ratios)[2], uint32_t *count, double samples, double cycles)
{
	double ratio = samples / cycles;
	uint32_t at = *count;

	if (ratio <= 0)
		return;
	for (; at > 0 && ratios[at - 1][0] > ratio; at--) {
		ratios[at][0] = ratios[at - 1][0];
		ratios[at][1] = ratios[at - 1][1];
	}
	ratios[at][0] = ratio;
	ratios[at][1] = sqrt(1 / samples + POINT_MODEL_ERROR * POINT_MODEL_ERROR);
	if (*count < RATIOS_MAX)
		++*count;
}

/* Choose the points of a density: some over the whole range, more around the ratios. */
static uint32_t place_points(double *x, const struct issue_point *points, uint32_t count,
			     double least, double bound)
{
	double ratios[RATIOS_MAX + 1][2];
	uint32_t ratio_count = 0, n = 0;

	for (uint32_t k = 0; k < EVEN_POINTS; k++)
		x[n++] = bound * pow(least / bound, 1 - k / (EVEN_POINTS - 1.0));
	for (uint32_t p = 0; p < count; p++) {
		add_ratio(ratios, &ratio_count, points[p].samples, points[p].cycles);
		if (point_claims(&points[p]) > 0)
			add_ratio(ratios, &ratio_count,
				  points[p].samples + point_claims(&points[p]), points[p].cycles);
	}
	for (uint32_t r = 0; r < ratio_count; r++) {
		for (int k = 0; k < RATIO_POINTS; k++) {
			double deviations = 0.8 * (k - (RATIO_POINTS - 1) / 2.0);
			double at = ratios[r][0] * exp(deviations * fmin(ratios[r][1], 0.5));

			if (at > least && at < bound)
				x[n++] = at;
		}
	}
	qsort(x, n, sizeof(*x), compare_doubles);
	return n;
}

/*
 * Prior: equal for all orders of magnitude; below a few samples, Jeffreys' prior for a rate, which
 * has little bias for few samples.
 */
static void find_prior(double *log_density, const double *x, uint32_t n,
		       const struct issue_point *points, uint32_t count)
{
	double cycles = 0;

	for (uint32_t p = 0; p < count; p++)
		cycles += points[p].cycles;
	for (uint32_t k = 0; k < n; k++)
		log_density[k] = -0.5 * log(x[k] * (x[k] + FEW_SAMPLES / cycles));
}

static uint32_t find_density(double *x, double *log_density, const uint8_t *exposures,
			     double mispredict, const struct issue_point *points, uint32_t count,
			     double least, double bound)
{
	double log_x[POINTS_MAX];
	uint32_t n = place_points(x, points, count, least, bound);

	find_prior(log_density, x, n, points, count);
	for (uint32_t k = 0; k < n; k++)
		log_x[k] = log(x[k]);
	for (uint32_t p = 0; p < count; p++)
		point_likelihood_multiply(log_density, x, log_x, n, &points[p], exposures,
					  mispredict);
	return n;
}

/*
 * Stalls only add time, so the sum of S / the sum of M would be a bound; but some M may be wrong.
 */
static double bound_of(double samples, double cycles)
{
	return cycles > 0 ? BOUND_SLACK * (samples + 4) / cycles : INFINITY;
}

/*
 * Evidence of a class from other procedures: from callers for the procedure's own class, from
 * callees for classes with calls.
 */
struct derived {
	uint32_t class;
	double executions;
	double weight;
};

/*
 * struct witnesses - a class's issue points, with those without samples combined, and evidence from
 * other procedures
 * @points: memory for all points of any class
 * @derived:   of all classes, ascending; those of this class and later ones begin at @derived_next
 */
struct witnesses {
	struct issue_point *points;
	uint32_t count;
	struct derived *derived;
	size_t derived_count;
	size_t derived_next;
};

static struct issue_point point_of_derived(const struct derived *derived)
{
	return (struct issue_point){
		.samples = derived->weight,
		.cycles = derived->weight / derived->executions,
		.late = derived->weight / derived->executions,
		.insn = POINT_DERIVED,
	};
}

static uint32_t class_of_call(const struct frequency_input *input, uint32_t number)
{
	const struct cfg_call *call = &input->cfg->calls[number];
	long edge = cfg_tail_edge(input->cfg, call);

	return edge >= 0 ? input->classes->of_edge[edge]
			 : input->classes->of_block[input->cfg->block_of[call->insn]];
}

static int compare_derived(const void *a, const void *b)
{
	const struct derived *x = a, *y = b;

	return (x->class > y->class) - (x->class < y->class);
}

static int find_derived(struct witnesses *ret, const struct frequency_input *input)
{
	const struct procedure_profile *profile = input->profile;

	ret->derived = malloc((profile->derived_count + 1) * sizeof(*ret->derived));
	if (ret->derived == NULL)
		return -ENOMEM;
	if (profile->calls_in > 0 && profile->calls_in_weight > 0)
		ret->derived[ret->derived_count++] = (struct derived){
			.class = input->classes->of_procedure,
			.executions = profile->calls_in,
			.weight = profile->calls_in_weight,
		};
	for (size_t t = 0; t < profile->derived_count; t++)
		ret->derived[ret->derived_count++] = (struct derived){
			.class = class_of_call(input, profile->derived[t].call),
			.executions = profile->derived[t].executions,
			.weight = profile->derived[t].weight,
		};
	qsort(ret->derived, ret->derived_count, sizeof(*ret->derived), compare_derived);
	return 0;
}

static bool is_settled(const struct issue_point *point)
{
	return point_is_whole(point->cycles) && !point_is_late(point);
}

/* Add samples and cycles of an instruction to a point. */
static void join_insn(struct issue_point *point, const struct frequency_input *input, uint32_t i)
{
	point->samples += issue_point_samples(input, i);
	point->cycles += issue_point_cycles(input, i);
	point->late += issue_point_cycles(input, i) + issue_point_late_change(input, i);
}

/*
 * A fractional M is an average over edges into the block with uncertain weights, and instructions
 * pair differently after mispredictions. If M of neighbours add up to one or two cycles, that sum
 * does not depend on the edge taken.
 */
static struct issue_point join_neighbours(const struct issue_point *point,
					  const struct frequency_input *input,
					  const uint8_t *exposures)
{
	const struct cfg_block *block = &input->cfg->blocks[input->cfg->block_of[point->insn]];
	struct issue_point ret = *point;

	/* Add preceding instructions that may take the cycle instead of this one. */
	while (point_is_late(point) && ret.first > block->first + 1 &&
	       issue_point_cycles(input, ret.first - 1) < ISSUE_POINT_LEAST)
		join_insn(&ret, input, --ret.first);
	if (is_settled(&ret))
		return ret;
	ret.torn = 0;
	while (ret.cycles < JOINED_MOST && ret.insn + 1 < block->first + block->count &&
	       exposures[ret.insn + 1] < EXPOSED_VALUE) {
		join_insn(&ret, input, ++ret.insn);
		if (is_settled(&ret))
			return ret;
	}
	return *point;
}

static void frequency_evidence_gather(struct witnesses *ret, const struct frequency_input *input,
				      const struct issue_points *points, const uint8_t *exposures,
				      uint32_t class)
{
	struct issue_point unsampled = {0};
	uint32_t p = points->first[class];

	ret->count = 0;
	while (p < points->first[class + 1]) {
		struct issue_point point =
			is_settled(&points->points[p])
				? points->points[p]
				: join_neighbours(&points->points[p], input, exposures);

		for (p++; p < points->first[class + 1] && points->points[p].insn <= point.insn &&
			  points->points[p].insn > point.first;)
			p++;
		if (point.samples + point.shared > 0) {
			ret->points[ret->count++] = point;
			continue;
		}
		unsampled.cycles += fmin(point.cycles, point.late);
		unsampled.insn = unsampled.first = point.insn;
	}
	if (unsampled.cycles > 0)
		ret->points[ret->count++] = unsampled;
	for (size_t t = ret->derived_next; t < ret->derived_count && ret->derived[t].class == class;
	     t++)
		ret->points[ret->count++] = point_of_derived(&ret->derived[t]);
}

/*
 * Advance to the next class. @bound: bound of this class by its samples. Return: the bound, raised
 * to the evidence from other procedures.
 */
static double pass_derived(struct witnesses *witnesses, uint32_t class, double bound)
{
	double most = 0;

	while (witnesses->derived_next < witnesses->derived_count &&
	       witnesses->derived[witnesses->derived_next].class == class)
		most = fmax(most, witnesses->derived[witnesses->derived_next++].executions);
	if (most <= 0)
		return bound;
	return isinf(bound) ? BOUND_SLACK * most : fmax(bound, most);
}

/* Return the lowest frequency to consider. */
static double least_of_class(const struct issue_points *points, uint32_t class, double bound)
{
	return LEAST * fmin(bound, bound_of(points->samples[class], points->cycles[class]));
}

static double bound_of_class(const struct issue_points *points, uint32_t class)
{
	double cycles = fmax(points->least[class], BOUND_LEAST * points->cycles[class]);

	return bound_of(points->samples[class], cycles);
}

/* Return the doubles for a density of @count witnesses: frequencies and their logarithms. */
static size_t room_for(size_t count)
{
	size_t ratios = 2 * count;

	return 2 * (EVEN_POINTS + RATIO_POINTS * (ratios < RATIOS_MAX ? ratios : RATIOS_MAX));
}

static int allocate(struct frequency_evidence *evidence, struct witnesses *witnesses,
		    const struct issue_points *points, uint32_t class_count)
{
	size_t total = (room_for(1) - room_for(0)) * witnesses->derived_count;
	uint32_t most = 0;

	for (uint32_t k = 0; k < class_count; k++) {
		uint32_t count = points->first[k + 1] - points->first[k] + 1;

		most = count > most ? count : most;
		total += room_for(count);
	}
	evidence->densities = calloc((size_t)class_count + 1, sizeof(*evidence->densities));
	evidence->bounds = malloc(((size_t)class_count + 1) * sizeof(double));
	evidence->memory = malloc((total + 1) * sizeof(double));
	witnesses->points =
		malloc((most + witnesses->derived_count + 1) * sizeof(*witnesses->points));
	return evidence->densities == NULL || evidence->bounds == NULL ||
			       evidence->memory == NULL || witnesses->points == NULL
		       ? -ENOMEM
		       : 0;
}

static double mispredict_cycles(const struct machine_model *model)
{
	return model != NULL && model->branch_mispredict_cycles > 0
		       ? model->branch_mispredict_cycles
		       : MISPREDICT_CYCLES;
}

int frequency_evidence_find(struct frequency_evidence *ret, const struct frequency_input *input,
			    const struct issue_points *points)
{
	uint32_t class_count = input->classes->count;
	struct frequency_evidence evidence = {0};
	struct witnesses witnesses = {0};
	_cleanup_free_ uint8_t *exposures = malloc((size_t)input->cfg->insn_count + 1);
	int r = find_derived(&witnesses, input);
	double mispredict = mispredict_cycles(input->model);
	double *next;

	if (r == 0)
		r = allocate(&evidence, &witnesses, points, class_count);
	if (r == 0)
		r = exposures == NULL ? -ENOMEM
				      : stall_exposure_find(exposures, input->cfg, input->model);
	next = evidence.memory;
	for (uint32_t k = 0; r == 0 && k < class_count; k++) {
		double *log, bound;

		frequency_evidence_gather(&witnesses, input, points, exposures, k);
		bound = pass_derived(&witnesses, k, bound_of_class(points, k));
		evidence.bounds[k] = bound;
		if (witnesses.count == 0)
			continue;
		log = next + room_for(witnesses.count) / 2;
		evidence.densities[k] = (struct frequency_density){
			.x = next,
			.log = log,
			.count = find_density(next, log, exposures, mispredict, witnesses.points,
					      witnesses.count, least_of_class(points, k, bound),
					      bound),
		};
		next += room_for(witnesses.count);
	}
	free(witnesses.points);
	free(witnesses.derived);
	if (r < 0)
		frequency_evidence_deinit(&evidence);
	else
		*ret = evidence;
	return r;
}

void frequency_evidence_deinit(struct frequency_evidence *evidence)
{
	free(evidence->densities);
	free(evidence->bounds);
	free(evidence->memory);
	free(evidence->clocks);
	*evidence = (struct frequency_evidence){0};
}
