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
static double weigh_choice(struct weights *weights, const struct calc_plan_rules *rules,
			   const struct calc_choice *choice, struct image_analysis_totals *few)
{
	weights->most = 0;
	if (image_analysis_weigh(choice->code, &choice->profile.samples, add_weight, weights, few) <
	    0)
		return -ENOMEM;
	if (choice->counts.exact.range_count > 0 || !rules->is_usable(rules->context, choice))
		return INFINITY;
	return weights->most;
}

/* struct weighing - a pass over the images; @largest: results of weigh_choice() by image */
struct weighing {
	const struct calc_plan *plan;
	const struct calc_plan_rules *rules;
	struct open_images *images;
	struct progress *progress;
	struct weights weights;
	double *largest;
};

static bool calc_plan_is_wanted(const void *context, size_t index)
{
	const struct weighing *weighing = context;

	return weighing->rules->is_chosen(weighing->rules->context,
					  &weighing->images->select->images->list[index]);
}

static int weigh_image(void *context, size_t index, struct calc_choice *choice, int r,
		       const struct error *err)
{
	struct weighing *weighing = context;
	const struct calc_images *images = weighing->images->select->images;
	double most = INFINITY;

	(void)err;
	progress_say(weighing->progress, index, images->count, images->list[index].image.path);
	if (r == 0)
		most = weigh_choice(&weighing->weights, weighing->rules, choice,
				    &weighing->plan->few[index]);
	if (r == 0 && most >= weighing->weights.least)
		open_images_keep(weighing->images, index, choice);
	weighing->largest[index] = most;
	return most < 0 ? -ENOMEM : 0;
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

int calc_plan_make(struct calc_plan *plan, struct open_images *images,
		   const struct calc_plan_rules *rules, struct progress *progress)
{
	size_t count = images->select->images->count;
	_cleanup_free_ double *largest = calloc(count + 1, sizeof(*largest));
	struct weighing weighing = {plan, rules, images, progress, {.least = plan->least}, largest};
	const struct open_images_pass pass = {calc_plan_is_wanted, weigh_image, &weighing};
	int r;

	if (plan->least <= 1 && plan->most == 0)
		return 0;
	plan->worth = calloc(count + 1, sizeof(*plan->worth));
	plan->few = calloc(count + 1, sizeof(*plan->few));
	if (largest == NULL || plan->worth == NULL || plan->few == NULL)
		return -ENOMEM;
	r = open_images_visit(images, &pass);
	if (r == 0)
		plan->least = least_of(&weighing.weights, plan->most);
	for (size_t i = 0; r == 0 && i < count; i++)
		plan->worth[i] = largest[i] >= plan->least;
	free(weighing.weights.list);
	return r;
}

void calc_plan_deinit(struct calc_plan *plan)
{
	free(plan->worth);
	free(plan->few);
	*plan = (struct calc_plan){0};
}
