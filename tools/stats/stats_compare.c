// SPDX-License-Identifier: GPL-2.0-only
#include "tools/stats/stats_compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/text.h"
#include "tools/annotate/calc_heading.h"
#include "tools/annotate/calc_source.h"
#include "tools/annotate/calc_summary.h"

/*
 * struct side - a set, and the procedure in it
 * @doubtful: samples in code whose frequency estimate has low confidence
 */
struct side {
	size_t set;
	int64_t *epochs;
	struct profile_filter filter;
	struct calc_source source;
	struct calc_choice choice;
	const struct machine_model *model;
	struct stall_summary summary;
	double doubtful;
	char heading[40];
};

static void side_deinit(struct side *side)
{
	calc_choice_deinit(&side->choice);
	calc_source_deinit(&side->source);
	free(side->epochs);
}

static int add_summary(void *context, const struct procedure_analysis *analysis)
{
	const struct culprit_input input = procedure_analysis_input(analysis);
	struct side *side = context;

	stall_summary_add(&side->summary, &input, &analysis->culprits);
	for (uint32_t i = 0; i < analysis->cfg->insn_count; i++) {
		uint32_t block = analysis->cfg->block_of[i];

		if (analysis->frequency.blocks[block].confidence == FREQUENCY_LOW)
			side->doubtful += analysis->profile.samples[i];
	}
	return 0;
}

static int stats_compare_choose(struct side *side, const struct sample_sets *sets,
				const struct cli *cli, const char *operand, struct error *err)
{
	const struct sample_source *source = &sets->sources[sets->list[side->set].source];
	int r;

	side->epochs = calloc(sets->list[side->set].epochs, sizeof(*side->epochs));
	if (side->epochs == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	side->filter = sample_sets_filter(sets, side->set, side->epochs);
	r = calc_source_load(&side->source, source->reader, &side->filter, sets->event, cli->image,
			     &source->debug, err);
	if (r == 0)
		r = calc_select_named(&side->choice, &side->source.select, operand, err);
	return r;
}

static int analyse(struct side *side, struct error *err)
{
	struct image_analysis_options options;
	int r = calc_source_options(&side->source, &side->choice, NULL, &options, err);

	if (r < 0)
		return r;
	side->model = options.model;
	return image_analysis_run(side->choice.code, &side->choice.profile.samples, &options,
				  add_summary, side, NULL, err);
}

/* Return the weight of a set's samples if periods differ between sets. */
static double stats_compare_weight_of(const struct side *side, const struct sample_sets *sets)
{
	return sets->scaled_period ? side->choice.profile.samples.time.period : 1;
}

/* Find the sets with the fewest and the most samples of the procedure, by its name in each set. */
static int find_extremes(struct side sides[2], const struct sample_sets *sets,
			 const struct cli *cli, const char *operand, struct error *err)
{
	_cleanup_free_ double *samples = calloc(sets->count, sizeof(*samples));
	bool any = false;

	if (samples == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t set = 0; set < sets->count; set++) {
		struct side side = {.set = set};
		int r = stats_compare_choose(&side, sets, cli, operand, err);

		samples[set] = side.choice.samples * stats_compare_weight_of(&side, sets);
		side_deinit(&side);
		if (r == -ENOENT)
			continue; /* no samples of it in this set */
		if (r < 0)
			return r;
		if (!any || samples[set] < samples[sides[0].set])
			sides[0].set = set;
		if (!any || samples[set] > samples[sides[1].set])
			sides[1].set = set;
		any = true;
	}
	if (!any)
		return -ENOENT;
	if (sides[0].set == sides[1].set)
		return error_set(err, EINVAL, "'%s' has samples in only one set, or does not vary",
				 operand);
	return 0;
}

/* Print "fastest     set 2, epoch 7: 1234 samples, 34% with low confidence". */
static void print_side(const struct side *side, const struct sample_sets *sets, const char *which)
{
	const char *name = sets->list[side->set].name;

	printf("%s     set %zu, ", which, side->set + 1);
	if (sets->by != SAMPLE_SETS_BY_NR)
		printf("%s ", sample_sets_by_name(sets->by));
	printf("%s: %.0f samples", *name != '\0' ? name : "(none)", side->choice.samples);
	if (sets->scaled_period)
		printf(", of %.0f cycles each", stats_compare_weight_of(side, sets));
	if (side->doubtful > 0)
		printf(", %.0f%% with low confidence", 100 * side->doubtful / side->choice.samples);
	putchar('\n');
}

static int stats_compare_print(const struct sample_sets *sets, struct side sides[2],
			       const struct cli *cli, struct error *err)
{
	_cleanup_(procedure_names_deinit) struct procedure_names names = {0};
	_cleanup_free_ char *path = text_clean(sides[0].choice.image->image.path);
	const char *const headings[2] = {sides[0].heading, sides[1].heading};
	const struct stall_summary *const summaries[2] = {&sides[0].summary, &sides[1].summary};

	if (calc_procedure_names(&names, sides[0].choice.code, sides[0].choice.procedure,
				 cli->demangle) < 0 ||
	    path == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (cli->brief) {
		report_header_print_brief(stdout, &sets->header, cli->width);
		printf("\nimage       %s\n", path);
	} else {
		report_header_print(stdout, &sets->header, cli->width);
		calc_heading_image(stdout, path, sides[0].choice.code, sides[0].model,
				   &sides[0].source.events, &sides[0].choice.profile.samples);
	}
	printf("procedure   %s%s\n", names.name, names.note);
	calc_heading_aliases(stdout, &names);
	for (size_t i = 0; i < 2; i++) {
		stall_summary_settle(&sides[i].summary);
		print_side(&sides[i], sets, i == 0 ? "fastest" : "slowest");
		snprintf(sides[i].heading, sizeof(sides[i].heading), "%s: set %zu",
			 i == 0 ? "fastest" : "slowest", sides[i].set + 1);
	}
	putchar('\n');
	calc_summary_compare(stdout, headings, summaries);
	return cli_finish_output(err);
}

int stats_compare(const struct sample_sets *sets, const struct cli *cli, const char *operand,
		  struct error *err)
{
	struct side sides[2] = {0};
	int r = find_extremes(sides, sets, cli, operand, err);

	for (size_t i = 0; i < 2 && r == 0; i++) {
		r = stats_compare_choose(&sides[i], sets, cli, operand, err);
		if (r == 0)
			r = analyse(&sides[i], err);
	}
	if (r == 0)
		r = stats_compare_print(sets, sides, cli, err);
	for (size_t i = 0; i < 2; i++)
		side_deinit(&sides[i]);
	return r;
}
