// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/image_analysis.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "tools/report/cli.h"

/* struct weights - samples of all procedures; @most: maximum within the current image */
struct weights {
	double *list;
	size_t count;
	size_t capacity;
	double least;
	double most;
};

int calc_plan_set(struct calc_plan *plan, const char *argument, struct error *err)
{
	int64_t least;
	int r = cli_number(argument, "number of samples", &least, err);

	if (r == 0)
		*plan = (struct calc_plan){.least = (double)least};
	return r;
}

static int add_weight(void *context, double time)
{
	struct weights *weights = context;

	weights->most = fmax(weights->most, time);
	if (time < weights->least)
		return 0;
	if (array_reserve(&weights->list, &weights->capacity, weights->count + 1,
			  sizeof(*weights->list)) < 0)
		return -ENOMEM;
	weights->list[weights->count++] = time;
	return 0;
}

/*
 * Return: samples of the image's largest procedure; infinity: the image must always be opened;
 * -ENOMEM
 */
static double weigh_image(struct weights *weights, const struct calc_select *select,
			  const struct calc_image *image)
{
	_cleanup_(calc_choice_deinit) struct calc_choice choice = {0};
	struct error err;

	if (calc_select_open(&choice, select, image, &err) < 0)
		return INFINITY;
	weights->most = 0;
	if (image_analysis_weigh(choice.code, &choice.profile.samples, add_weight, weights, &err) <
	    0)
		return -ENOMEM;
	return choice.counts.exact.range_count > 0 ? INFINITY : weights->most;
}

static int largest_first(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/*
 * Return the samples of the last procedure within the limit. Procedures with equal samples are
 * treated alike, so somewhat more may be analysed.
 */
static double least_of(struct weights *weights, size_t most)
{
	if (most == 0 || weights->count <= most)
		return weights->least;
	qsort(weights->list, weights->count, sizeof(*weights->list), largest_first);
	return weights->list[most - 1];
}

int calc_plan_make(struct calc_plan *plan, const struct calc_select *select,
		   bool (*is_chosen)(const void *context, const struct calc_image *image),
		   const void *context, struct progress *progress)
{
	const struct calc_images *images = select->images;
	struct weights weights = {.least = plan->least};
	_cleanup_free_ double *largest = NULL;

	if (plan->least <= 1 && plan->most == 0)
		return 0;
	largest = calloc(images->count + 1, sizeof(*largest));
	plan->worth = calloc(images->count + 1, sizeof(*plan->worth));
	if (largest == NULL || plan->worth == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < images->count; i++) {
		progress_say(progress, i, images->count, images->list[i].image.path);
		if (is_chosen(context, &images->list[i]))
			largest[i] = weigh_image(&weights, select, &images->list[i]);
		if (largest[i] < 0) {
			free(weights.list);
			return -ENOMEM;
		}
	}
	plan->least = least_of(&weights, plan->most);
	for (size_t i = 0; i < images->count; i++)
		plan->worth[i] = largest[i] >= plan->least;
	free(weights.list);
	return 0;
}

void calc_plan_deinit(struct calc_plan *plan)
{
	free(plan->worth);
	*plan = (struct calc_plan){0};
}
