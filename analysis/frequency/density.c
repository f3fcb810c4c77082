// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/density.h"

#include <math.h>

/* Range of the Gaussian's points, in standard deviations. */
#define REACH 4.0
/* Logarithm of a density, relative to the greatest, that is treated as zero. */
#define NEGLIGIBLE (-20.0)

/* Points in ascending order from two ascending sources. */
struct merge {
	const struct frequency_density *evidence;
	uint32_t next;	  /* next point of the evidence */
	uint32_t segment; /* segment of the evidence that the last x was in */
	double first;	  /* other points: first, first + step, ... */
	double step;
	uint32_t others;
};

static double next_point(struct merge *m)
{
	const struct frequency_density *e = m->evidence;

	if (m->others > 0 && (m->next == e->count || m->first < e->x[m->next])) {
		double x = m->first;

		m->first += m->step;
		m->others--;
		return x;
	}
	return e->x[m->next++];
}

/* Log density at ascending @x; steep outside the range of the evidence. */
static double log_evidence(struct merge *m, double x)
{
	const struct frequency_density *e = m->evidence;
	double x0, x1;

	if (e->count == 0)
		return 0;
	if (x < e->x[0])
		return e->log[0] - 50 * (1 - x / e->x[0]);
	if (x > e->x[e->count - 1])
		return e->log[e->count - 1] - 50 * (x / e->x[e->count - 1] - 1);
	while (m->segment + 2 < e->count && x > e->x[m->segment + 1])
		m->segment++;
	x0 = e->x[m->segment];
	x1 = e->x[m->segment + 1];
	if (x1 <= x0)
		return e->log[m->segment];
	return e->log[m->segment] +
	       (e->log[m->segment + 1] - e->log[m->segment]) * (x - x0) / (x1 - x0);
}

static void place_points(struct merge *m, const struct density_moments *gaussian, double bound)
{
	double deviation = sqrt(gaussian->variance);
	double low, high;

	if (isinf(deviation)) {
		m->others = m->evidence->count == 0 ? DENSITY_FLAT_POINTS : 0;
		low = 0;
		high = bound;
	} else {
		m->others = DENSITY_CAVITY_POINTS;
		low = fmax(0, gaussian->mean - REACH * deviation);
		high = fmin(bound, gaussian->mean + REACH * deviation);
		/*
		 * The Gaussian lies outside the range: the remaining density is at the nearest end.
		 */
		if (high <= low) {
			low = gaussian->mean < 0 ? 0 : fmax(0, bound - deviation);
			high = gaussian->mean < 0 ? fmin(bound, deviation) : bound;
		}
		if (low == 0 && gaussian->mean < 0 && high > 0)
			high = fmin(high, -3 * gaussian->variance / gaussian->mean + 1e-300);
	}
	if (m->others > 0) {
		m->first = low;
		m->step = (high - low) / (m->others - 1);
	}
}

void density_multiply(struct density_grid *ret, const struct frequency_density *evidence,
		      const struct density_moments *gaussian, double bound)
{
	struct merge m = {.evidence = evidence};
	double greatest = -INFINITY;
	uint32_t points;
	double scale = isinf(gaussian->variance) ? 0 : 1 / (2 * gaussian->variance);

	place_points(&m, gaussian, bound);
	points = evidence->count + m.others;
	ret->count = 0;
	for (uint32_t k = 0; k < points; k++) {
		double x = next_point(&m);
		double off = x - gaussian->mean;
		double log = log_evidence(&m, x) - scale * off * off;

		ret->x[ret->count] = x;
		ret->weight[ret->count++] = log;
		greatest = log > greatest ? log : greatest;
	}
	/* Most points have a negligible density. */
	for (uint32_t k = 0; k < ret->count; k++) {
		double log = ret->weight[k] - greatest;

		ret->weight[k] = log > NEGLIGIBLE ? exp(log) : 0;
	}
}

struct density_moments density_moments(const struct density_grid *grid)
{
	double sum = 0, first = 0, second = 0;
	double origin = grid->x[0];
	struct density_moments ret;

	for (uint32_t k = 0; k + 1 < grid->count; k++) {
		double width = grid->x[k + 1] - grid->x[k];
		double a = grid->weight[k] * width, b = grid->weight[k + 1] * width;
		double x = grid->x[k] - origin, y = grid->x[k + 1] - origin;

		sum += a + b;
		first += a * x + b * y;
		second += a * x * x + b * y * y;
	}
	if (sum <= 0)
		return (struct density_moments){.mean = origin};
	ret.mean = first / sum;
	ret.variance = fmax(0, second / sum - ret.mean * ret.mean);
	ret.mean += origin;
	return ret;
}

void density_quantiles(double *ret, const struct density_grid *grid, const double *shares,
		       uint32_t count)
{
	double sum = 0, before = 0;
	uint32_t found = 0;

	for (uint32_t k = 0; k + 1 < grid->count; k++)
		sum += (grid->weight[k] + grid->weight[k + 1]) * (grid->x[k + 1] - grid->x[k]);
	for (uint32_t k = 0; k + 1 < grid->count && found < count; k++) {
		double width = grid->x[k + 1] - grid->x[k];
		double mass = (grid->weight[k] + grid->weight[k + 1]) * width;

		while (found < count && mass > 0 && before + mass >= shares[found] * sum) {
			ret[found] = grid->x[k] + width * (shares[found] * sum - before) / mass;
			found++;
		}
		before += mass;
	}
	while (found < count)
		ret[found++] = grid->x[grid->count - 1];
}
