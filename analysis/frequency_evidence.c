// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency_evidence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/stall_exposure.h"
#include "lib/cleanup.h"

/* Points of a density: spread evenly, and around each of the lowest ratios. */
#define EVEN_POINTS 25
#define RATIOS_MAX 24
#define RATIO_POINTS 9
#define POINTS_MAX (EVEN_POINTS + RATIOS_MAX * RATIO_POINTS)
/* The even ones go down to this part of the bound. */
#define LEAST 1e-4
/* How far a cycle count without dynamic stalls can be relied on. */
#define MODEL_ERROR 0.01
/* Below so many samples of a class their number, not its order of magnitude, is random. */
#define FEW_SAMPLES 3.0
/* How much more often than its sums say a class may execute, if some M are too big. */
#define BOUND_SLACK 3.0

/* No instruction: what the callers' estimates add up to, as if it were an issue point. */
#define CALLERS UINT32_MAX

/*
 * How likely an instruction has dynamic stalls, and if so, between which multiples of M:
 * any order of magnitude in between alike. From the tuned half of the truth harness.
 */
struct prospects {
	double stalled;
	double least;
	double most;
};

static const struct prospects prospects_of[STALL_EXPOSURES] = {
	[EXPOSED_NOT] = {0.05, 0.01, 30},	  [EXPOSED_LINE] = {0.12, 0.01, 30},
	[EXPOSED_STORE] = {0.15, 0.01, 30},	  [EXPOSED_LOAD] = {0.2, 0.01, 30},
	[EXPOSED_FALLTHROUGH] = {0.55, 0.02, 30}, [EXPOSED_VALUE] = {0.65, 0.01, 100},
	[EXPOSED_FETCH] = {0.95, 0.1, 30},
};
/* What callers say is not delayed. */
static const struct prospects prospects_of_callers = {0, 0.01, 30};

/* M is not what it should be: by a cycle, if it is some instruction's latency; or at all. */
#define WRONG 0.03
#define WRONG_LATENCY 0.2
/* Logs of factors of which no more is left, or nothing but they. */
#define NEGLIGIBLE (-30.0)
/* Wrong altogether: any frequency over so many units of its logarithm. */
#define WRONG_RANGE 6.0

/* Each factor as likely as the product of what the instructions of a point are open to. */
static struct prospects find_prospects(const struct issue_point *point, const uint8_t *exposures)
{
	struct prospects ret;

	if (point->insn == CALLERS)
		return prospects_of_callers;
	ret = prospects_of[exposures[point->insn]];
	for (uint32_t i = point->first; i < point->insn; i++) {
		const struct prospects *other = &prospects_of[exposures[i]];

		ret.stalled = 1 - (1 - ret.stalled) * (1 - other->stalled);
		ret.least = fmin(ret.least, other->least);
		ret.most = fmax(ret.most, other->most);
	}
	return ret;
}

/* All of a point's likelihood that does not depend on the frequency. */
struct likelihood {
	struct prospects prospects;
	double samples;
	double cycles;
	double clean; /* probabilities */
	double stalled;
	double latency;	     /* each way */
	double certain;	     /* samples, less what the model's error takes of them */
	double peak;	     /* greatest density of log S, if nothing is the matter */
	double stall_scale;  /* 1 / log (most / least) */
	double log_ratio[3]; /* log of M/S; of M - 1 and of M + 1 */
};

static struct likelihood make_likelihood(const struct issue_point *point, const uint8_t *exposures)
{
	double latency = point->cycles >= 1.5 ? WRONG_LATENCY : 0;
	double right = 1 - WRONG - latency;
	double s = point->samples;
	struct likelihood l = {
		.prospects = find_prospects(point, exposures),
		.samples = s,
		.cycles = point->cycles,
		.latency = latency / 2,
	};

	if (s <= 0)
		return l;
	l.clean = right * (1 - l.prospects.stalled);
	l.stalled = right * l.prospects.stalled;
	l.certain = s / (1 + s * MODEL_ERROR * MODEL_ERROR);
	l.peak = sqrt(l.certain / (2 * M_PI));
	l.stall_scale = 1 / log(l.prospects.most / l.prospects.least);
	l.log_ratio[0] = log(l.cycles / s);
	if (latency > 0) {
		l.log_ratio[1] = log((l.cycles - 1) / s);
		l.log_ratio[2] = log((l.cycles + 1) / s);
	}
	return l;
}

/* Density of log S, S being Poisson; @log_ratio: log of what is expected by S. */
static double peak_density(const struct likelihood *l, double expected, double log_ratio)
{
	double log = l->certain * (log_ratio + 1 - expected / l->samples);

	return log > NEGLIGIBLE ? l->peak * exp(log) : 0;
}

/* The same if there are stalls: density of log (1 + d/M), blurred at its lower end. */
static double stalled_density(const struct likelihood *l, double expected)
{
	double stall = l->samples / expected - 1;
	double least = l->prospects.least;
	double blurred = stall > least ? stall : least;
	double density = l->stall_scale * (1 + blurred) / blurred;
	double below = 1.7 * (least - stall) * sqrt(l->certain);

	if (stall > l->prospects.most)
		density *= l->prospects.most / stall;
	if (below < NEGLIGIBLE)
		return density;
	return below > -NEGLIGIBLE ? 0 : density / (1 + exp(below));
}

/* Log likelihood of a point's samples, if its class has frequency @x. */
static double log_likelihood(const struct likelihood *l, double x, double log_x)
{
	double expected = x * l->cycles;
	double sum;

	if (l->samples <= 0)
		return log((1 - WRONG) * exp(-expected) + WRONG);
	sum = l->clean * peak_density(l, expected, log_x + l->log_ratio[0]) +
	      l->stalled * stalled_density(l, expected) + WRONG / WRONG_RANGE;
	if (l->latency > 0)
		sum += l->latency * (peak_density(l, expected - x, log_x + l->log_ratio[1]) +
				     peak_density(l, expected + x, log_x + l->log_ratio[2]));
	return log(sum);
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
 * Prior: any order of magnitude alike; but down from a few samples Jeffreys' prior for a
 * rate, which biases few samples neither up nor down much.
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
			     const struct issue_point *points, uint32_t count, double bound)
{
	double log_x[POINTS_MAX];
	uint32_t n = place_points(x, points, count, bound);

	find_prior(log_density, x, n, points, count);
	for (uint32_t k = 0; k < n; k++)
		log_x[k] = log(x[k]);
	for (uint32_t p = 0; p < count; p++) {
		struct likelihood l = make_likelihood(&points[p], exposures);

		for (uint32_t k = 0; k < n; k++)
			log_density[k] += log_likelihood(&l, x[k], log_x[k]);
	}
	return n;
}

/* Stalls only add, so this would be the sum of S by the sum of M; but some M may be wrong. */
static double bound_of(double samples, double cycles)
{
	return cycles > 0 ? BOUND_SLACK * (samples + 4) / cycles : INFINITY;
}

/* A class's issue points, those without samples as one, and for the procedure's own class what the
 * callers say. */
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
	struct issue_point unsampled = {0};

	ret->count = 0;
	for (uint32_t p = points->first[class]; p < points->first[class + 1]; p++) {
		if (points->points[p].samples > 0) {
			ret->points[ret->count++] = points->points[p];
			continue;
		}
		unsampled.cycles += points->points[p].cycles;
		unsampled.insn = unsampled.first = points->points[p].insn;
	}
	if (unsampled.cycles > 0)
		ret->points[ret->count++] = unsampled;
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
	_cleanup_free_ uint8_t *exposures = malloc((size_t)input->cfg->insn_count + 1);
	int r = allocate(&evidence, &witnesses, points, class_count);
	double *next = evidence.memory;

	if (r == 0)
		r = exposures == NULL ? -ENOMEM
				      : stall_exposure_find(exposures, input->cfg, input->model);
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
			.count = find_density(next, log, exposures, witnesses.points,
					      witnesses.count, evidence.bounds[k]),
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
