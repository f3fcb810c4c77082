// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/exact_scale.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"

#define PROCEDURES_MAX 256
#define AGREE_FACTOR 2

/* struct ratio - of an estimate to a count; @weight: samples */
struct ratio {
	double value;
	double weight;
};

struct ratios {
	struct ratio *list;
	size_t count;
	size_t capacity;
};

/* What is gathered: the same blocks three times, by their estimates' value, low and high. */
struct gathering {
	const struct exact_counts *exact;
	struct ratios value;
	struct ratios low;
	struct ratios high;
};

static void gathering_deinit(struct gathering *gathering)
{
	free(gathering->value.list);
	free(gathering->low.list);
	free(gathering->high.list);
}

static int add(struct ratios *ratios, double value, double weight)
{
	if (array_reserve(&ratios->list, &ratios->capacity, ratios->count + 1,
			  sizeof(*ratios->list)) < 0)
		return -ENOMEM;
	ratios->list[ratios->count++] = (struct ratio){value, weight};
	return 0;
}

static int add_block(struct gathering *gathering, const struct procedure_analysis *analysis,
		     uint32_t index)
{
	const struct frequency_estimate *estimate = &analysis->frequency.blocks[index];
	const struct cfg_block *block = &analysis->cfg->blocks[index];
	double period = analysis->profile.period_cycles, samples = 0;
	double count =
		exact_counts_of(gathering->exact, analysis->cfg->insns[block->first].address);
	int r;

	for (uint32_t i = block->first; i < block->first + block->count; i++)
		samples += analysis->profile.samples[i];
	if (samples <= 0 || count <= 0 || estimate->origin == FREQUENCY_NONE ||
	    !(estimate->value > 0))
		return 0;
	r = add(&gathering->value, estimate->value * period / count, samples);
	if (r == 0)
		r = add(&gathering->low, estimate->low * period / count, samples);
	if (r == 0)
		r = add(&gathering->high, estimate->high * period / count, samples);
	return r;
}

static int take_procedure(void *context, const struct procedure_analysis *analysis)
{
	int r = 0;

	for (uint32_t b = 0; r == 0 && b < analysis->cfg->block_count; b++)
		r = add_block(context, analysis, b);
	return r;
}

static int by_value(const void *a, const void *b)
{
	const struct ratio *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static double total_weight(const struct ratios *ratios)
{
	double sum = 0;

	for (size_t i = 0; i < ratios->count; i++)
		sum += ratios->list[i].weight;
	return sum;
}

static double weighted_median(struct ratios *ratios)
{
	double half = total_weight(ratios) / 2, below = 0;

	qsort(ratios->list, ratios->count, sizeof(*ratios->list), by_value);
	for (size_t i = 0; i < ratios->count; i++) {
		below += ratios->list[i].weight;
		if (below >= half)
			return ratios->list[i].value;
	}
	return ratios->list[ratios->count - 1].value;
}

static double share_near(const struct ratios *ratios, double value)
{
	double near = 0;

	for (size_t i = 0; i < ratios->count; i++) {
		if (ratios->list[i].value <= AGREE_FACTOR * value &&
		    AGREE_FACTOR * ratios->list[i].value >= value)
			near += ratios->list[i].weight;
	}
	return near / total_weight(ratios);
}

/* --- which procedures ----------------------------------------------------- */

struct hot {
	size_t index;
	double samples;
};

static int by_samples(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return (x->index > y->index) - (x->index < y->index);
}

static int by_index(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Return: 0 or -ENOMEM; @count of them in @chosen, ascending. */
static int choose(size_t chosen[PROCEDURES_MAX], size_t *count, const struct image_code *code,
		  const struct image_samples *samples)
{
	size_t total = procedure_table_count(image_code_procedures(code)), found = 0;
	_cleanup_free_ struct hot *list = malloc((total + 1) * sizeof(*list));

	if (list == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < total; i++) {
		struct image_range parts[PROCEDURE_PARTS_MAX];
		size_t parent, part_count = image_samples_parts(code, i, parts, &parent);
		double time = image_samples_time(samples, parts, part_count);

		if (time > 0 && image_samples_counted(samples, parts, part_count))
			list[found++] = (struct hot){i, time};
	}
	qsort(list, found, sizeof(*list), by_samples);
	*count = found < PROCEDURES_MAX ? found : PROCEDURES_MAX;
	for (size_t i = 0; i < *count; i++)
		chosen[i] = list[i].index;
	qsort(chosen, *count, sizeof(*chosen), by_index);
	return 0;
}

/* --- the scale ------------------------------------------------------------ */

static int settle(struct exact_scale *ret, struct gathering *gathering, struct error *err)
{
	if (gathering->value.count == 0)
		return error_set(err, ENODATA, "no code that was counted was sampled");
	ret->samples = total_weight(&gathering->value);
	ret->value = weighted_median(&gathering->value);
	ret->low = weighted_median(&gathering->low);
	ret->high = weighted_median(&gathering->high);
	if (ret->low > ret->value)
		ret->low = ret->value;
	if (ret->high < ret->value)
		ret->high = ret->value;
	ret->agree = share_near(&gathering->value, ret->value);
	return 0;
}

int exact_scale_find(struct exact_scale *ret, struct image_code *code,
		     const struct image_samples *samples,
		     const struct image_analysis_options *options, struct error *err)
{
	_cleanup_(gathering_deinit) struct gathering gathering = {.exact = &samples->exact};
	struct image_analysis_options chosen_ones = *options;
	struct image_samples without = *samples;
	size_t chosen[PROCEDURES_MAX];
	int r;

	without.exact = (struct exact_counts){0};
	chosen_ones.scope = IMAGE_ANALYSIS_CHOSEN;
	chosen_ones.chosen = chosen;
	if (choose(chosen, &chosen_ones.chosen_count, code, samples) < 0)
		return error_set(err, ENOMEM, "out of memory");
	r = image_analysis_run(code, &without, &chosen_ones, take_procedure, &gathering, NULL, err);
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, "out of memory");
	return r == 0 ? settle(ret, &gathering, err) : r;
}
