// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/exact_scale.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define PROCEDURES_MAX 256
#define AGREE_FACTOR 2

/* Fast blocks are this share of all blocks, by time relative to their best case. */
#define FAST_SHARE 0.25
/* Upper bound of a block's weight in this selection, because slow blocks have most samples. */
#define FAST_SAMPLES 20
/* Greatest error of best cases. */
#define MODEL_FACTOR 2
/*
 * Blocks that take this many times as long as fast ones are waiting; their estimates are
 * unreliable.
 */
#define WAITING_FACTOR 8

/* Numbers of an estimate. */
enum {
	VALUE,
	LOW,
	HIGH,
	NUMBERS
};

/*
 * struct counted_block - a block with both counts and samples
 * @ratios: its estimate divided by its count
 * @best_case_scale:   the scale at which its executions would take their best case; 0: the best
 * case is 0
 */
struct counted_block {
	double ratios[NUMBERS];
	double best_case_scale;
	double samples;
};

struct collector {
	const struct exact_counts *exact;
	struct counted_block *list;
	size_t count;
	size_t capacity;
};

static void collector_deinit(struct collector *collector)
{
	free(collector->list);
}

static int exact_scale_add_block(struct collector *collector,
				 const struct procedure_analysis *analysis, uint32_t index)
{
	const struct frequency_estimate *estimate = &analysis->frequency.blocks[index];
	const struct cfg_block *block = &analysis->cfg->blocks[index];
	double period = analysis->profile.period_cycles, samples = 0;
	double best_cycles = analysis->schedule.block_cycles[index];
	double count =
		exact_counts_of(collector->exact, analysis->cfg->insns[block->first].address);

	for (uint32_t i = block->first; i < block->first + block->count; i++)
		samples += analysis->profile.samples[i];
	if (samples <= 0 || count <= 0 || estimate->origin == FREQUENCY_NONE ||
	    !(estimate->value > 0))
		return 0;
	if (array_reserve(&collector->list, &collector->capacity, collector->count + 1,
			  sizeof(*collector->list)) < 0)
		return -ENOMEM;
	collector->list[collector->count++] = (struct counted_block){
		.ratios = {[VALUE] = estimate->value * period / count,
			   [LOW] = estimate->low * period / count,
			   [HIGH] = estimate->high * period / count},
		.best_case_scale = best_cycles > 0 ? samples * period / (count * best_cycles) : 0,
		.samples = samples,
	};
	return 0;
}

static int exact_scale_take_procedure(void *context, const struct procedure_analysis *analysis)
{
	int r = 0;

	for (uint32_t b = 0; r == 0 && b < analysis->cfg->block_count; b++)
		r = exact_scale_add_block(context, analysis, b);
	return r;
}

/* --- quantiles over blocks ------------------------------------------------- */

struct weighted {
	double value;
	double weight;
};

static int exact_scale_by_value(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/* Sort @list and return a quantile. Return: 0 if the list is empty. */
static double quantile(struct weighted *list, size_t count, double share)
{
	double total = 0, below = 0;

	for (size_t i = 0; i < count; i++)
		total += list[i].weight;
	if (count > 0)
		qsort(list, count, sizeof(*list), exact_scale_by_value);
	for (size_t i = 0; i < count; i++) {
		below += list[i].weight;
		if (below >= share * total)
			return list[i].value;
	}
	return count > 0 ? list[count - 1].value : 0;
}

/* Return the scale at which the fast blocks would take their best case; 0: unknown. */
static double fast_scale(const struct collector *collector, struct weighted *buffer)
{
	size_t count = 0;

	for (size_t i = 0; i < collector->count; i++) {
		const struct counted_block *block = &collector->list[i];

		if (block->best_case_scale > 0)
			buffer[count++] = (struct weighted){block->best_case_scale,
							    fmin(block->samples, FAST_SAMPLES)};
	}
	return quantile(buffer, count, FAST_SHARE);
}

/* Return the median of one of the ratios, weighted by samples, over blocks that are not waiting. */
static double median_of(const struct collector *collector, double fast, unsigned int which,
			struct weighted *buffer)
{
	size_t count = 0;

	for (size_t i = 0; i < collector->count; i++) {
		const struct counted_block *block = &collector->list[i];

		if (fast <= 0 || block->best_case_scale <= WAITING_FACTOR * fast)
			buffer[count++] = (struct weighted){block->ratios[which], block->samples};
	}
	return quantile(buffer, count, 0.5);
}

static double total_samples(const struct collector *collector)
{
	double sum = 0;

	for (size_t i = 0; i < collector->count; i++)
		sum += collector->list[i].samples;
	return sum;
}

static double share_near(const struct collector *collector, double scale)
{
	double near = 0;

	for (size_t i = 0; i < collector->count; i++) {
		double value = collector->list[i].ratios[VALUE];

		if (value <= AGREE_FACTOR * scale && AGREE_FACTOR * value >= scale)
			near += collector->list[i].samples;
	}
	return near / total_samples(collector);
}

/* --- choice of procedures ---------------------------------------------------- */

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

/* Return: 0 or -ENOMEM; the @count procedures in @chosen are ascending. */
static int exact_scale_choose(size_t chosen[PROCEDURES_MAX], size_t *count,
			      const struct image_code *code, const struct image_samples *samples)
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

static int exact_scale_settle(struct exact_scale *ret, const struct collector *collector,
			      double likely, struct error *err)
{
	_cleanup_free_ struct weighted *buffer = calloc(collector->count + 1, sizeof(*buffer));
	struct exact_scale scale = {.samples = total_samples(collector)};
	double fast;

	if (buffer == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (collector->count == 0)
		return error_set(err, ENODATA, "no counted code has samples");
	fast = fast_scale(collector, buffer);
	scale.value = median_of(collector, fast, VALUE, buffer);
	scale.low = median_of(collector, fast, LOW, buffer);
	scale.high = median_of(collector, fast, HIGH, buffer);
	if (fast > 0) {
		scale.value = fmin(scale.value, MODEL_FACTOR * fast);
		scale.high = fmin(scale.high, MODEL_FACTOR * fast);
	}
	scale.low = fmin(scale.low, scale.value);
	scale.high = fmax(scale.high, scale.value);
	scale.expected = likely;
	scale.likely = likely >= scale.low && likely <= scale.high;
	if (scale.likely)
		scale.value = likely;
	scale.agree = share_near(collector, scale.value);
	*ret = scale;
	return 0;
}

int exact_scale_find(struct exact_scale *ret, struct image_code *code,
		     const struct image_samples *samples,
		     const struct image_analysis_options *options, double likely, struct error *err)
{
	_cleanup_(collector_deinit) struct collector collector = {.exact = &samples->exact};
	struct image_analysis_options chosen_ones = *options;
	struct image_samples without = *samples;
	size_t chosen[PROCEDURES_MAX];
	int r;

	without.exact = (struct exact_counts){0};
	chosen_ones.scope = IMAGE_ANALYSIS_CHOSEN;
	chosen_ones.chosen = chosen;
	if (exact_scale_choose(chosen, &chosen_ones.chosen_count, code, samples) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = image_analysis_run(code, &without, &chosen_ones, exact_scale_take_procedure, &collector,
			       NULL, err);
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return r == 0 ? exact_scale_settle(ret, &collector, likely, err) : r;
}
