// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_driver.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#include "analysis/program_calls.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/progress.h"
#include "tools/report/profiler_class.h"

/* Procedures that a procedure of the kernel is compared with. */
#define KERNEL_CALLERS_MAX 256

static int set_method(const struct calc_driver *walk, const struct calc_choice *choice,
		      struct image_analysis_options *options, struct error *err)
{
	int r = calc_source_options(walk->source, choice, walk->method.model, options, err);

	if (r == 0)
		calc_method_apply(&walk->method, options);
	return r;
}

static int set_scope(const struct calc_driver *walk, const struct calc_choice *choice,
		     const struct program_calls *calls, struct image_analysis_options *options,
		     struct error *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int r = set_method(walk, choice, options, err);

	if (r < 0)
		return r;
	options->scope = IMAGE_ANALYSIS_SAMPLED;
	options->least = walk->plan.least;
	options->threads = cpus > 1 ? (unsigned int)cpus : 1;
	options->tie_calls = !walk->method.as_published;
	options->calls = calls;
	return 0;
}

/* Return true if the totals have no samples of a procedure, which calc_images_load() has removed.
 */
static bool is_excluded(const struct calc_driver *walk, const struct procedure_analysis *analysis)
{
	const struct calc_choice *choice = walk->current;
	const struct calc_source *source = walk->source;
	const struct procedure *procedure =
		procedure_table_get(image_code_procedures(choice->code), analysis->index);

	return source->profiler == CALC_PROFILER_REMOVED &&
	       profiler_class_excluded(profiler_class_of(&choice->image->image, procedure->name,
							 source->select.probes),
				       &source->include);
}

static int calc_driver_take_procedure(void *context, const struct procedure_analysis *analysis)
{
	struct calc_driver *walk = context;

	if (walk->method.frequencies == CALC_FREQUENCIES_EXACT && analysis->profile.exact == NULL)
		return 0;
	/* Skip procedures that were counted but not sampled; they could be many. */
	if (walk->images > 0 && analysis->profile.total <= 0)
		return 0;
	if (is_excluded(walk, analysis)) {
		walk->excluded += analysis->profile.total;
		return 0;
	}
	if (analysis->bound == FREQUENCY_BOUND_CONTRADICTED && !walk->doubtful) {
		calc_rest_add(&walk->rest, CALC_REST_CONTRADICTED, analysis->profile.total, 1);
		return 0;
	}
	walk->procedures++;
	return walk->procedure(walk->context, analysis);
}

/*
 * A run usually has one epoch, both of dcpirun and of dcpix, so the ratio of epochs predicts the
 * scale.
 */
static double likely_scale(const struct calc_choice *choice)
{
	return choice->counts.epochs > 0
		       ? (double)choice->image->epochs / (double)choice->counts.epochs
		       : 0;
}

/* Attach the exact counts if their scale is known; otherwise they are unusable. */
static int use_counts(const struct calc_driver *walk, struct calc_choice *choice,
		      const struct image_analysis_options *options, struct error *err)
{
	double given_scale = walk->method.scale;
	struct exact_scale scale = {
		.value = given_scale, .low = given_scale, .high = given_scale, .agree = 1};
	int r = 0;

	if (choice->counts.exact.range_count > 0 && given_scale <= 0)
		r = exact_scale_find(&scale, choice->code, &choice->profile.samples, options,
				     likely_scale(choice), err);
	if (r < 0 && r != -ENODATA)
		return r;
	if (r == -ENODATA)
		calc_counts_deinit(&choice->counts);
	else if (choice->counts.exact.range_count > 0)
		calc_counts_set_scale(&choice->counts, &scale);
	choice->profile.samples.exact = choice->counts.exact;
	return 0;
}

static void add_rest(struct calc_driver *walk, const struct calc_image *image,
		     const struct image_analysis_totals *totals)
{
	/* Excluded samples that are in no analysed procedure are in those with few samples. */
	calc_rest_add(&walk->rest, CALC_REST_FEW,
		      totals->samples_few - fmax(image->excluded - walk->excluded, 0), totals->few);
	calc_rest_add(&walk->rest, CALC_REST_OUTSIDE, totals->samples_outside - totals->samples_few,
		      0);
}

static int analyse(struct calc_driver *walk, struct calc_choice *choice,
		   const struct image_analysis_options *options, struct error *err)
{
	struct image_analysis_totals totals = {0};
	int r = use_counts(walk, choice, options, err);

	if (r < 0)
		return r;
	walk->current = choice;
	walk->excluded = 0;
	if (walk->image != NULL && walk->image(walk->context, choice, options->model) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = image_analysis_run(choice->code, &choice->profile.samples, options,
			       calc_driver_take_procedure, walk, &totals, err);
	if (r < 0)
		return r;
	add_rest(walk, choice->image, &totals);
	return 0;
}

static bool has_code(const struct calc_image *image)
{
	return image->image.kind != PROFILE_IMAGE_UNKNOWN;
}

static bool is_any(const void *context, const struct calc_image *image)
{
	(void)context;
	return has_code(image);
}

/* Return true if the machine's model is one of the image's architecture. */
static bool is_usable(const void *context, const struct calc_choice *choice)
{
	struct image_analysis_options options;
	struct error err;

	return set_method(context, choice, &options, &err) == 0;
}

/* struct driver_pass - a pass over the chosen images that are worth an analysis */
struct driver_pass {
	struct calc_driver *walk;
	bool (*is_chosen)(const void *context, const struct calc_image *image);
	struct program_calls *calls;
	struct progress *progress;
};

static bool is_worth(const void *context, size_t index)
{
	const struct driver_pass *pass = context;
	const struct calc_driver *walk = pass->walk;

	return pass->is_chosen(walk, &walk->source->images.list[index]) &&
	       calc_plan_is_worth(&walk->plan, index);
}

static int tally_image(void *context, size_t index, struct calc_choice *choice, int r,
		       const struct error *err)
{
	const struct driver_pass *pass = context;
	struct calc_driver *walk = pass->walk;
	const struct calc_images *images = &walk->source->images;
	struct image_analysis_options options;
	struct image_samples samples;

	(void)err;
	progress_say(pass->progress, index, 2 * images->count, images->list[index].image.path);
	if (r < 0 || set_scope(walk, choice, pass->calls, &options, NULL) < 0)
		return 0;
	/* Use estimates only, so that procedures are comparable. */
	samples = choice->profile.samples;
	samples.exact = (struct exact_counts){0};
	r = image_analysis_tally(pass->calls, choice->code, &samples, &options, NULL);
	open_images_keep(&walk->open, index, choice);
	return r == -ENOMEM ? r : 0;
}

/*
 * Tally the calls of all images before any procedure is printed, because calls connect procedures
 * of different images. Errors of an image are reported later, when it is analysed.
 */
static int tally_calls(struct driver_pass *pass)
{
	const struct open_images_pass visits = {is_worth, tally_image, pass};
	int r;

	if (pass->walk->method.as_published)
		return 0;
	r = program_calls_create(&pass->calls);
	if (r == 0)
		r = open_images_visit(&pass->walk->open, &visits);
	return r == 0 ? program_calls_solve(pass->calls) : r;
}

/*
 * Nothing in the kernel is a loop clock, and edges are not sampled there: its procedures are
 * compared with their callers, down to the programs that make system calls. The procedures with
 * most samples are enough, so that the user need not wait.
 */
static int kernel_calls_tally(struct calc_driver *walk, const struct calc_choice *choice,
			      struct program_calls **calls)
{
	const struct calc_plan_rules rules = {is_any, is_usable, walk};
	enum profile_image_kind kind = choice->image->image.kind;
	struct progress progress = {0};
	struct driver_pass pass = {.walk = walk, .is_chosen = is_any, .progress = &progress};
	int r;

	if (walk->method.as_published ||
	    (kind != PROFILE_IMAGE_KERNEL && kind != PROFILE_IMAGE_MODULE))
		return 0;
	r = open_images_init(&walk->open, &walk->source->select);
	walk->plan = (struct calc_plan){.least = 1, .most = KERNEL_CALLERS_MAX};
	if (r == 0)
		r = calc_plan_make(&walk->plan, &walk->open, &rules, &progress);
	if (r == 0)
		r = tally_calls(&pass);
	*calls = pass.calls;
	calc_plan_deinit(&walk->plan);
	open_images_deinit(&walk->open);
	return r;
}

int calc_driver_one(struct calc_driver *walk, struct calc_choice *choice, struct error *err)
{
	const size_t procedure = choice->procedure;

	return calc_driver_chosen(walk, choice, &procedure, 1, err);
}

int calc_driver_chosen(struct calc_driver *walk, struct calc_choice *choice,
		       const size_t *procedures, size_t count, struct error *err)
{
	struct image_analysis_options options;
	struct program_calls *calls = NULL;
	int r = set_method(walk, choice, &options, err);

	if (r == 0 && kernel_calls_tally(walk, choice, &calls) < 0)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	options.chosen = procedures;
	options.chosen_count = count;
	options.calls = calls;
	if (r == 0)
		r = analyse(walk, choice, &options, err);
	program_calls_destroy(calls);
	if (r == 0 && walk->procedures == 0)
		return error_set(err, ENOENT, "the procedure has no exact counts");
	return r;
}

static bool any_with_code(const struct calc_driver *walk)
{
	const struct calc_images *images = &walk->source->images;

	for (size_t i = 0; i < images->count; i++) {
		if (has_code(&images->list[i]) &&
		    calc_image_matches(&images->list[i], walk->cli->image))
			return true;
	}
	return false;
}

/* Images without code are skipped, unless only such images were selected. */
static bool is_chosen(const void *context, const struct calc_image *image)
{
	const struct calc_driver *walk = context;

	if (walk->cli->image == NULL)
		return has_code(image);
	return calc_image_matches(image, walk->cli->image) &&
	       (has_code(image) || !any_with_code(walk));
}

/* Return: 0, also after an error of the image, which is recorded; or -ENOMEM. */
static int walk_image(void *context, size_t index, struct calc_choice *choice, int r,
		      const struct error *open_error)
{
	const struct driver_pass *pass = context;
	struct calc_driver *walk = pass->walk;
	const struct calc_images *images = &walk->source->images;
	const struct calc_image *image = &images->list[index];
	struct image_analysis_options options;
	struct error err = *open_error;

	walk->images++;
	progress_say(pass->progress, images->count + index, 2 * images->count, image->image.path);
	/* The database may lack code that is in no file. */
	if (r == -ENOTSUP && walk->cli->image == NULL && image->image.kind != PROFILE_IMAGE_FILE) {
		calc_rest_add(&walk->rest, CALC_REST_NO_CODE, image->samples, 1);
		walk->images -= image->image.kind != PROFILE_IMAGE_JIT;
		return 0;
	}
	if (r == 0)
		r = set_scope(walk, choice, pass->calls, &options, &err);
	if (r == 0)
		r = analyse(walk, choice, &options, &err);
	if (r == 0)
		return 0;
	walk->failed++;
	calc_rest_add(&walk->rest, CALC_REST_FAILED, image->samples, 1);
	return passed_over_add(&walk->passed, &err, image->samples) < 0 || r == -ENOMEM ? -ENOMEM
											: 0;
}

/* Count the samples of images that are not analysed. */
static void add_others(struct calc_driver *walk)
{
	const struct calc_images *images = &walk->source->images;

	walk->excluded = 0;
	for (size_t i = 0; i < images->count; i++) {
		const struct calc_image *image = &images->list[i];

		if (!is_chosen(walk, image)) {
			if (walk->cli->image == NULL)
				calc_rest_add(&walk->rest, CALC_REST_NO_CODE, image->samples, 1);
		} else if (!calc_plan_is_worth(&walk->plan, i)) {
			walk->images++;
			walk->sparse++;
			add_rest(walk, image, &walk->plan.few[i]);
		}
	}
}

static int walk_images(struct driver_pass *pass)
{
	const struct open_images_pass visits = {is_worth, walk_image, pass};

	add_others(pass->walk);
	return open_images_visit(&pass->walk->open, &visits);
}

static int status_of(const struct calc_driver *walk)
{
	const char *hint = walk->source->images.excluded > 0 ? CLI_PROFILER_HINT
			   : walk->source->images.idle > 0   ? CLI_IDLE_HINT
							     : "";

	if (walk->images == 0 && walk->cli->image != NULL)
		return cli_no_image(walk->cli, "samples", hint);
	if (walk->images == 0)
		return cli_nothing(walk->cli, "no samples in files%s", hint);
	if (walk->procedures == 0 && walk->rest.count[CALC_REST_FEW] > 0)
		return cli_nothing(
			walk->cli,
			"no procedure has %.0f samples or more: use a smaller --min-samples",
			walk->rest.least);
	if (walk->failed < walk->images && walk->procedures == 0)
		return cli_nothing(walk->cli, "no samples in procedures");
	return walk->failed < walk->images ? CLI_OK : CLI_FAILED;
}

int calc_driver_run(struct calc_driver *walk)
{
	const struct calc_plan_rules rules = {is_chosen, is_usable, walk};
	struct progress progress = {0};
	struct driver_pass pass = {.walk = walk, .is_chosen = is_chosen, .progress = &progress};
	struct error err;
	int r = open_images_init(&walk->open, &walk->source->select);

	if (walk->progress)
		progress_start(&progress, walk->cli->tool);
	if (r == 0)
		r = calc_plan_make(&walk->plan, &walk->open, &rules, &progress);
	walk->rest.least = walk->plan.least;
	if (r == 0)
		r = tally_calls(&pass);
	if (r == 0)
		r = walk_images(&pass);
	progress_clear(&progress);
	/* An image that was skipped has its own message. */
	if (r < 0 && walk->passed.count == 0) {
		error_set(&err, ENOMEM, ERROR_NO_MEMORY);
		cli_fail(walk->cli, &err);
	}
	passed_over_print(&walk->passed, walk->cli, "skipped", (double)walk->source->images.time);
	passed_over_deinit(&walk->passed);
	program_calls_destroy(pass.calls);
	calc_plan_deinit(&walk->plan);
	open_images_deinit(&walk->open);
	return r < 0 ? CLI_FAILED : status_of(walk);
}
