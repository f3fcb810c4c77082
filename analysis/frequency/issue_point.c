// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/issue_point.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/cleanup.h"

/*
 * If a block's first instruction takes at least this, a pair rarely spans the entry of the block.
 */
#define ALONE 0.95
/*
 * Least share of samples of instructions that should have issued with a point, relative to its own.
 */
#define TORN_SHARE 0.1

/* struct sums - sums of S, of M and of late_change of instructions 0 .. i - 1 */
struct sums {
	double *samples;
	double *cycles;
	double *late;
};

static int find_sums(struct sums *sums, const struct frequency_input *input)
{
	uint32_t count = input->cfg->insn_count;

	sums->samples = malloc(((size_t)count + 1) * sizeof(*sums->samples));
	sums->cycles = malloc(((size_t)count + 1) * sizeof(*sums->cycles));
	sums->late = malloc(((size_t)count + 1) * sizeof(*sums->late));
	if (sums->samples == NULL || sums->cycles == NULL || sums->late == NULL)
		return -ENOMEM;
	sums->samples[0] = sums->cycles[0] = sums->late[0] = 0;
	for (uint32_t i = 0; i < count; i++) {
		sums->samples[i + 1] = sums->samples[i] + issue_point_samples(input, i);
		sums->cycles[i + 1] = sums->cycles[i] + issue_point_cycles(input, i);
		sums->late[i + 1] = sums->late[i] + issue_point_late_change(input, i);
	}
	return 0;
}

/* Return the samples of the instructions that should issue with @i, or 0 if they are few. */
static double find_torn(const struct frequency_input *input, uint32_t i, uint32_t end)
{
	double others = 0;

	for (uint32_t k = i + 1; k < end && issue_point_cycles(input, k) == 0; k++)
		others += issue_point_samples(input, k);
	return others > TORN_SHARE * issue_point_samples(input, i) ? others : 0;
}

static struct issue_point make_point(const struct frequency_input *input, const struct sums *sums,
				     uint32_t b, uint32_t i)
{
	uint32_t begin = input->cfg->blocks[b].first;
	uint32_t end = begin + input->cfg->blocks[b].count;
	uint32_t on = input->schedule->insns[i].depends_on;
	uint32_t first = on >= begin && on < i ? on + 1 : i;
	struct issue_point point = {
		.samples = sums->samples[i + 1] - sums->samples[first],
		.cycles = sums->cycles[i + 1] - sums->cycles[first],
		.late = sums->cycles[i + 1] - sums->cycles[first] + sums->late[i + 1] -
			sums->late[first],
		.head_samples = issue_point_samples(input, begin),
		.head_cycles = issue_point_cycles(input, begin),
		.torn = find_torn(input, i, end),
		.insn = i,
		.first = first,
	};

	if (first == begin)
		point.late = point.cycles;

	if (issue_point_cycles(input, begin) > ALONE)
		return point;
	for (uint32_t k = first; k-- > begin && issue_point_cycles(input, k) == 0;)
		point.shared += issue_point_samples(input, k);
	return point;
}

static bool is_point(const struct frequency_input *input, uint32_t i)
{
	return issue_point_cycles(input, i) >= ISSUE_POINT_LEAST;
}

/* Return the block's least cycles, without instructions whose samples are no evidence. */
static double least_of(const struct frequency_input *input, uint32_t b)
{
	const struct cfg_block *block = &input->cfg->blocks[b];
	double least = input->schedule->block_least[b];

	for (uint32_t i = block->first; i < block->first + block->count; i++)
		if (issue_point_unsure(input, i))
			least -= input->schedule->insns[i].min_cycles;
	return fmax(least, 0);
}

static void sort_by_class(struct issue_points *points, const struct frequency_input *input,
			  const struct sums *sums)
{
	const struct cfg *cfg = input->cfg;
	uint32_t class_count = input->classes->count;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		uint32_t begin = cfg->blocks[b].first;
		uint32_t end = begin + cfg->blocks[b].count;
		uint32_t class = input->classes->of_block[b];

		points->least[class] += least_of(input, b);
		for (uint32_t i = begin; i < end; i++) {
			points->samples[class] += issue_point_samples(input, i);
			points->cycles[class] += issue_point_cycles(input, i);
			points->first[class + 2] += is_point(input, i);
		}
	}
	for (uint32_t k = 0; k < class_count; k++)
		points->first[k + 2] += points->first[k + 1];
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		uint32_t begin = cfg->blocks[b].first;
		uint32_t *next = &points->first[input->classes->of_block[b] + 1];

		for (uint32_t i = begin; i < begin + cfg->blocks[b].count; i++) {
			if (is_point(input, i))
				points->points[(*next)++] = make_point(input, sums, b, i);
		}
	}
}

int issue_points_find(struct issue_points *ret, const struct frequency_input *input)
{
	size_t class_count = input->classes->count;
	_cleanup_free_ double *sum_samples = NULL;
	_cleanup_free_ double *sum_cycles = NULL;
	_cleanup_free_ double *sum_late = NULL;
	struct sums sums = {0};
	struct issue_points points = {
		.points = calloc((size_t)input->cfg->insn_count + 1, sizeof(*points.points)),
		.first = calloc(class_count + 2, sizeof(*points.first)),
		.samples = calloc(class_count + 1, sizeof(*points.samples)),
		.cycles = calloc(class_count + 1, sizeof(*points.cycles)),
		.least = calloc(class_count + 1, sizeof(*points.least)),
	};
	int r = find_sums(&sums, input);

	sum_samples = sums.samples;
	sum_cycles = sums.cycles;
	sum_late = sums.late;
	if (r < 0 || points.points == NULL || points.first == NULL || points.samples == NULL ||
	    points.cycles == NULL || points.least == NULL) {
		issue_points_deinit(&points);
		return -ENOMEM;
	}
	sort_by_class(&points, input, &sums);
	*ret = points;
	return 0;
}

void issue_points_deinit(struct issue_points *points)
{
	free(points->points);
	free(points->first);
	free(points->samples);
	free(points->cycles);
	free(points->least);
	*points = (struct issue_points){0};
}
