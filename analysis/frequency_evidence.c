// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency_evidence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/cleanup.h"

/* Points of a density: spread evenly, and around each of the lowest ratios. */
#define EVEN_POINTS 48
#define RATIOS_MAX 24
#define RATIO_POINTS 9
#define POINTS_MAX (EVEN_POINTS + RATIOS_MAX * RATIO_POINTS)
/* The even ones go down to this part of the bound. */
#define LEAST 1e-4
/* How far a cycle count without dynamic stalls can be relied on. */
#define MODEL_ERROR 0.01
/* Dynamic stalls are between these, in units of M, any order of magnitude alike. */
#define STALL_LEAST 0.01
#define STALL_MOST 1000.0
/* Below so many samples of a class their number, not its order of magnitude, is random. */
#define FEW_SAMPLES 3.0
/* How much more often than its sums say a class may execute, if some M are too big. */
#define BOUND_SLACK 3.0

/* No instruction: what the callers' estimates add up to, as if it were an issue point. */
#define CALLERS UINT32_MAX

/* Of an issue point: how likely stalls are, and how likely M is too big. */
struct prospects {
	double stalled;
	double wrong;
};

static struct prospects prospects_of(const struct frequency_input *input,
				     const struct issue_point *point)
{
	(void)input;
	if (point->insn == CALLERS)
		return (struct prospects){.stalled = 0, .wrong = 0.05};
	return (struct prospects){.stalled = 0.4, .wrong = 0.02};
}

/* Log likelihood of a point's samples, if its class has frequency @x. */
static double log_likelihood(const struct issue_point *point, const struct prospects *prospects,
			     double x)
{
	double range = log(STALL_MOST / STALL_LEAST);
	double expected = x * point->cycles;
	double s = point->samples;
	double clean = 1 - prospects->stalled - prospects->wrong;
	double certain, free, width, peak, tail;

	if (s <= 0)
		return log((1 - prospects->wrong) * exp(-expected) + prospects->wrong);
	/* Densities over log S. */
	certain = s / (1 + s * MODEL_ERROR * MODEL_ERROR);
	peak = sqrt(certain / (2 * M_PI)) *
	       exp(certain / s * (s * log(expected / s) + s - expected));
	free = 1 - expected / s;
	width = fmax(STALL_LEAST, 1 / sqrt(certain));
	tail = 1 / (range * hypot(free, width));
	if (free < 0)
		tail *= exp(-free * free / (2 * width * width));
	return log(clean * peak + prospects->stalled * tail + prospects->wrong / 6);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Where to look at a density: everywhere a little, and closely around the ratios. */
static uint32_t place_points(double *x, const struct issue_point *points, uint32_t count,
			     double bound)
{
	double ratios[RATIOS_MAX + 1][2];
	uint32_t ratio_count = 0, n = 0;

	for (uint32_t k = 0; k < EVEN_POINTS; k++)
		x[n++] = bound * pow(LEAST, 1 - k / (EVEN_POINTS - 1.0));
	for (uint32_t p = 0; p < count; p++) {
		double ratio = points[p].samples / points[p].cycles;
		uint32_t at = ratio_count;

		if (ratio <= 0)
			continue;
		for (; at > 0 && ratios[at - 1][0] > ratio; at--) {
			ratios[at][0] = ratios[at - 1][0];
			ratios[at][1] = ratios[at - 1][1];
		}
		ratios[at][0] = ratio;
		ratios[at][1] = sqrt(1 / points[p].samples + MODEL_ERROR * MODEL_ERROR);
		if (ratio_count < RATIOS_MAX)
			ratio_count++;
	}
	for (uint32_t r = 0; r < ratio_count; r++) {
		for (int k = 0; k < RATIO_POINTS; k++) {
			double deviations = 0.8 * (k - (RATIO_POINTS - 1) / 2);
			double at = ratios[r][0] * exp(deviations * fmin(ratios[r][1], 0.5));

			if (at > LEAST * bound && at < bound)
				x[n++] = at;
		}
	}
	qsort(x, n, sizeof(*x), compare_doubles);
	return n;
}

/*
 * Any order of magnitude alike; but down from a few samples Jeffreys' prior for a rate, which
 * biases few samples neither up nor down much. @few: the frequency that gives so many.
 */
static double log_prior(double x, double few)
{
	return -0.5 * (log(x) + log(x + few));
}

static uint32_t find_density(double *x, double *log, const struct frequency_input *input,
			     const struct issue_point *points, uint32_t count, double bound)
{
	uint32_t n = place_points(x, points, count, bound);
	double cycles = 0;

	for (uint32_t p = 0; p < count; p++)
		cycles += points[p].cycles;
	for (uint32_t k = 0; k < n; k++)
		log[k] = log_prior(x[k], FEW_SAMPLES / cycles);
	for (uint32_t p = 0; p < count; p++) {
		struct prospects prospects = prospects_of(input, &points[p]);

		for (uint32_t k = 0; k < n; k++)
			log[k] += log_likelihood(&points[p], &prospects, x[k]);
	}
	return n;
}

/* Stalls only add, so this would be the sum of S by the sum of M; but some M may be wrong. */
static double bound_of(double samples, double cycles)
{
	return cycles > 0 ? BOUND_SLACK * (samples + 4) / cycles : INFINITY;
}

/* A class's issue points, and for the procedure's own class what the callers say. */
struct witnesses {
	struct issue_point *points; /* room for all of any class */
	uint32_t count;
};

static struct issue_point point_of_callers(const struct procedure_profile *profile)
{
	return (struct issue_point){
		.samples = profile->calls_in_weight,
		.cycles = profile->calls_in_weight / profile->calls_in,
		.insn = CALLERS,
	};
}

static bool callers_tell(const struct frequency_input *input, uint32_t class)
{
	return class == input->classes->of_procedure && input->profile->calls_in > 0 &&
	       input->profile->calls_in_weight > 0;
}

static void gather(struct witnesses *ret, const struct frequency_input *input,
		   const struct issue_points *points, uint32_t class)
{
	ret->count = 0;
	for (uint32_t p = points->first[class]; p < points->first[class + 1]; p++)
		ret->points[ret->count++] = points->points[p];
	if (callers_tell(input, class))
		ret->points[ret->count++] = point_of_callers(input->profile);
}

static double bound_of_class(const struct frequency_input *input, const struct issue_points *points,
			     uint32_t class)
{
	double bound = bound_of(points->samples[class], points->cycles[class]);

	if (!callers_tell(input, class))
		return bound;
	return isinf(bound) ? BOUND_SLACK * input->profile->calls_in
			    : fmax(bound, input->profile->calls_in);
}

/* Doubles that a class's density may take: frequencies and their logs. */
static size_t room_for(const struct issue_points *points, uint32_t class)
{
	uint32_t count = points->first[class + 1] - points->first[class] + 1;

	return 2 * (EVEN_POINTS + (size_t)RATIO_POINTS * (count < RATIOS_MAX ? count : RATIOS_MAX));
}

static int allocate(struct frequency_evidence *evidence, struct witnesses *witnesses,
		    const struct issue_points *points, uint32_t class_count)
{
	size_t total = 0;
	uint32_t most = 0;

	for (uint32_t k = 0; k < class_count; k++) {
		uint32_t count = points->first[k + 1] - points->first[k];

		most = count > most ? count : most;
		total += room_for(points, k);
	}
	evidence->densities = calloc((size_t)class_count + 1, sizeof(*evidence->densities));
	evidence->bounds = malloc(((size_t)class_count + 1) * sizeof(double));
	evidence->memory = malloc((total + 1) * sizeof(double));
	witnesses->points = malloc(((size_t)most + 1) * sizeof(*witnesses->points));
	return evidence->densities == NULL || evidence->bounds == NULL ||
			       evidence->memory == NULL || witnesses->points == NULL
		       ? -ENOMEM
		       : 0;
}

int frequency_evidence_find(struct frequency_evidence *ret, const struct frequency_input *input,
			    const struct issue_points *points)
{
	uint32_t class_count = input->classes->count;
	struct frequency_evidence evidence = {0};
	struct witnesses witnesses = {0};
	int r = allocate(&evidence, &witnesses, points, class_count);
	double *next = evidence.memory;

	for (uint32_t k = 0; r == 0 && k < class_count; k++) {
		size_t room = room_for(points, k);
		double *log = next + room / 2;

		evidence.bounds[k] = bound_of_class(input, points, k);
		gather(&witnesses, input, points, k);
		if (witnesses.count == 0)
			continue;
		evidence.densities[k] = (struct frequency_density){
			.x = next,
			.log = log,
			.count = find_density(next, log, input, witnesses.points, witnesses.count,
					      evidence.bounds[k]),
		};
		next += room;
	}
	free(witnesses.points);
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
	*evidence = (struct frequency_evidence){0};
}
