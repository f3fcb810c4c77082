// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/frequency.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/frequency/frequency_estimators.h"
#include "analysis/frequency/frequency_propagate.h"
#include "lib/cleanup.h"

/* Greatest ratio between the ends of a scale's interval, for each confidence. */
#define SCALE_HIGH_FACTOR 1.5
#define SCALE_MEDIUM_FACTOR 4

/* The default comes first. */
static const struct frequency_estimator *const estimators[] = {
	&frequency_joint, &frequency_paper, &frequency_average, &frequency_maximum, NULL,
};

const struct frequency_estimator *const *frequency_estimator_list(void)
{
	return estimators;
}

const struct frequency_estimator *frequency_estimator_find(const char *name)
{
	if (name == NULL)
		return estimators[0];
	for (size_t k = 0; estimators[k] != NULL; k++) {
		if (strcmp(estimators[k]->name, name) == 0)
			return estimators[k];
	}
	return NULL;
}

void frequency_from_classes(struct frequency *ret, const struct frequency_input *input,
			    const struct frequency_estimate *classes)
{
	for (uint32_t b = 0; b < input->cfg->block_count; b++)
		ret->blocks[b] = classes[input->classes->of_block[b]];
	for (uint32_t e = 0; e < input->cfg->edge_count; e++)
		ret->edges[e] = classes[input->classes->of_edge[e]];
}

enum frequency_confidence frequency_scale_confidence(double low, double high)
{
	if (high <= SCALE_HIGH_FACTOR * low)
		return FREQUENCY_HIGH;
	return high <= SCALE_MEDIUM_FACTOR * low ? FREQUENCY_MEDIUM : FREQUENCY_LOW;
}

static void take_exact(struct frequency_estimate *estimate, const struct frequency_estimate *exact,
		       const struct procedure_profile *profile)
{
	if (exact->origin == FREQUENCY_NONE)
		return;
	*estimate = *exact;
	estimate->origin = FREQUENCY_EXACT;
	estimate->confidence = frequency_scale_confidence(profile->exact_low, profile->exact_high);
}

static struct frequency_estimate exactly(const struct procedure_profile *profile, double executions)
{
	double value = executions / profile->period_cycles;

	return (struct frequency_estimate){
		.value = value,
		.low = value * profile->exact_low,
		.high = value * profile->exact_high,
		.confidence = frequency_scale_confidence(profile->exact_low, profile->exact_high),
		.origin = FREQUENCY_EXACT,
	};
}

/* Use the counts of blocks; edges without a count follow from flow conservation where possible. */
static int use_exact_counts(struct frequency *ret, const struct frequency_input *input)
{
	const struct procedure_profile *profile = input->profile;
	const struct cfg *cfg = input->cfg;
	_cleanup_free_ struct frequency_estimate *classes =
		calloc((size_t)input->classes->count + 1, sizeof(*classes));
	int r;

	if (classes == NULL)
		return -ENOMEM;
	for (uint32_t b = 0; b < cfg->block_count; b++)
		classes[input->classes->of_block[b]] =
			exactly(profile, profile->exact[cfg->blocks[b].first]);
	r = frequency_propagate(classes, cfg, input->classes);
	if (r < 0)
		return r;
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		if (profile->exact_edges != NULL && !isnan(profile->exact_edges[e]))
			ret->edges[e] = exactly(profile, profile->exact_edges[e]);
		else
			take_exact(&ret->edges[e], &classes[input->classes->of_edge[e]], profile);
	}
	/* Use each block's own count: exceptions may make the members of a class differ. */
	for (uint32_t b = 0; b < cfg->block_count; b++)
		ret->blocks[b] = exactly(profile, profile->exact[cfg->blocks[b].first]);
	return 0;
}

int frequency_allocate(struct frequency *ret, const struct cfg *cfg)
{
	ret->blocks = calloc((size_t)cfg->block_count + 1, sizeof(*ret->blocks));
	ret->edges = calloc((size_t)cfg->edge_count + 1, sizeof(*ret->edges));
	if (ret->blocks != NULL && ret->edges != NULL)
		return 0;
	frequency_deinit(ret);
	return -ENOMEM;
}

int frequency_estimate(struct frequency *ret, const struct frequency_estimator *estimator,
		       const struct frequency_input *input)
{
	struct frequency frequency;
	int r = frequency_allocate(&frequency, input->cfg);

	if (r < 0)
		return r;
	r = estimator->estimate(&frequency, input);
	if (r == 0 && input->profile->exact != NULL)
		r = use_exact_counts(&frequency, input);
	if (r < 0) {
		frequency_deinit(&frequency);
		return r;
	}
	*ret = frequency;
	return 0;
}

void frequency_deinit(struct frequency *frequency)
{
	free(frequency->blocks);
	free(frequency->edges);
	*frequency = (struct frequency){0};
}
