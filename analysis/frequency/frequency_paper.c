// SPDX-License-Identifier: GPL-2.0-only
/*
 * DCPI sections 6.1.3 to 6.1.5: a cluster of small ratios S/M in each class, then local
 * propagation, then a prediction of the estimate's quality. Where the paper gives a rule without a
 * number, the number is ours.
 */
#include "analysis/frequency/frequency_estimators.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/frequency/frequency_propagate.h"
#include "analysis/frequency/issue_point.h"
#include "lib/cleanup.h"

/* "Maximum ratio in cluster <= 1.5 * minimum ratio in cluster." */
#define CLUSTER_WIDTH 1.5
/* A cluster must have this share of the issue points of its class. */
#define CLUSTER_SHARE 0.25
/* With fewer samples per issue point, use the sum of S / the sum of M. */
#define FEW_SAMPLES 8.0
/* Longest possible stall, relative to the cost of all possible events together. */
#define STALL_SLACK 4.0
/* Longest possible stall if the machine's tables have no costs. */
#define STALL_CYCLES 1000.0

/* The paper's criteria (6.1.5): number of issue points, their spread, and the number of samples. */
struct grade {
	uint32_t points;
	double width;
	double samples;
};
static const struct grade high_grade = {3, 1.25, 400};
static const struct grade medium_grade = {2, 1.4, 100};

struct cluster {
	const double *ratios; /* ascending */
	uint32_t count;
	double samples;
};

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double longest_stall(const struct machine_model *model)
{
	double sum = 0;

	if (model != NULL)
		sum = model->icache.miss_cycles_max + model->dcache.miss_cycles_max +
		      model->itb.miss_cycles_max + model->dtb.miss_cycles_max +
		      model->branch_mispredict_cycles;
	return sum > 0 ? STALL_SLACK * sum : STALL_CYCLES;
}

static double mean(const struct cluster *cluster)
{
	double sum = 0;

	for (uint32_t k = 0; k < cluster->count; k++)
		sum += cluster->ratios[k];
	return sum / cluster->count;
}

/*
 * Find the lowest cluster that is not anomalous. Ratios of torn points are not in @ratios but count
 * in @point_count. The @greatest ratio limits how low a frequency can be.
 */
static bool find_cluster(struct cluster *ret, const double *ratios, uint32_t count,
			 uint32_t point_count, double greatest, double longest)
{
	for (uint32_t low = 0; low < count; low++) {
		struct cluster cluster = {.ratios = ratios + low};

		while (low + cluster.count < count &&
		       ratios[low + cluster.count] <= CLUSTER_WIDTH * ratios[low])
			cluster.count++;
		if (ratios[low] <= 0 || cluster.count < CLUSTER_SHARE * point_count ||
		    greatest / mean(&cluster) > longest)
			continue;
		*ret = cluster;
		return true;
	}
	return false;
}

static bool reaches(const struct grade *grade, const struct cluster *cluster)
{
	return cluster->count >= grade->points &&
	       cluster->ratios[cluster->count - 1] <= grade->width * cluster->ratios[0] &&
	       cluster->samples >= grade->samples;
}

static struct frequency_estimate from_cluster(const struct cluster *cluster)
{
	double noise = 1.645 / sqrt(fmax(cluster->samples, 1));

	return (struct frequency_estimate){
		.value = mean(cluster),
		.low = cluster->ratios[0] * fmax(0, 1 - noise),
		.high = cluster->ratios[cluster->count - 1] * (1 + noise),
		.confidence = reaches(&high_grade, cluster)	? FREQUENCY_HIGH
			      : reaches(&medium_grade, cluster) ? FREQUENCY_MEDIUM
								: FREQUENCY_LOW,
		.origin = FREQUENCY_CLUSTER,
	};
}

/* Used if there are few samples or no cluster. Points without cycles are no evidence. */
static struct frequency_estimate from_sums(double samples, double cycles)
{
	if (cycles <= 0)
		return (struct frequency_estimate){0};
	return (struct frequency_estimate){
		.value = samples / cycles,
		.low = 0,
		.high = (samples + 1.645 * sqrt(samples) + 2.3) / cycles,
		.confidence = FREQUENCY_LOW,
		.origin = FREQUENCY_RATIO,
	};
}

static struct frequency_estimate estimate_class(const struct issue_points *points, uint32_t class,
						double *ratios, double longest)
{
	uint32_t first = points->first[class];
	uint32_t point_count = points->first[class + 1] - first;
	struct cluster cluster;
	uint32_t count = 0;
	double greatest = 0;

	if (points->samples[class] < FEW_SAMPLES * point_count)
		return from_sums(points->samples[class], points->cycles[class]);
	for (uint32_t p = first; p < first + point_count; p++) {
		double ratio = points->points[p].samples / points->points[p].cycles;

		greatest = fmax(greatest, ratio);
		if (points->points[p].torn <= 0)
			ratios[count++] = ratio;
	}
	qsort(ratios, count, sizeof(*ratios), compare_doubles);
	if (!find_cluster(&cluster, ratios, count, point_count, greatest, longest))
		return from_sums(points->samples[class], points->cycles[class]);
	for (uint32_t p = first; p < first + point_count; p++) {
		double ratio = points->points[p].samples / points->points[p].cycles;

		if (ratio >= cluster.ratios[0] && ratio <= cluster.ratios[cluster.count - 1])
			cluster.samples += points->points[p].samples;
	}
	return from_cluster(&cluster);
}

static int estimate(struct frequency *ret, const struct frequency_input *input)
{
	_cleanup_(issue_points_deinit) struct issue_points points = {0};
	_cleanup_free_ struct frequency_estimate *classes =
		calloc((size_t)input->classes->count + 1, sizeof(*classes));
	_cleanup_free_ double *ratios =
		malloc(((size_t)input->cfg->insn_count + 1) * sizeof(*ratios));
	int r;

	if (classes == NULL || ratios == NULL || issue_points_find(&points, input) < 0)
		return -ENOMEM;
	for (uint32_t k = 0; k < input->classes->count; k++)
		classes[k] = estimate_class(&points, k, ratios, longest_stall(input->model));
	r = frequency_propagate(classes, input->cfg, input->classes);
	if (r == 0)
		frequency_from_classes(ret, input, classes);
	return r;
}

const struct frequency_estimator frequency_paper = {
	.name = "paper",
	.summary = "DCPI's own: clusters of S/M, then local propagation",
	.estimate = estimate,
};
