// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calc/calc_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "tools/base/text.h"
#include "tools/calc/calc_evidence.h"
#include "tools/calc/calc_heading.h"
#include "tools/calc/calc_json.h"
#include "tools/calc/calc_summary.h"
#include "tools/calc/calc_summary_text.h"
#include "tools/report/report_header.h"

/* A common summary names the image only if there is exactly one. */
static int note_image(struct calc_output *output)
{
	output->images++;
	free(output->only_image);
	free(output->only_build_id);
	output->only_image = output->only_build_id = NULL;
	output->only_model = NULL;
	if (output->images > 1)
		return 0;
	output->only_image = strdup(output->image);
	output->only_build_id = strdup(image_code_build_id(output->choice->code));
	output->only_model = output->model->name;
	return output->only_image != NULL && output->only_build_id != NULL ? 0 : -ENOMEM;
}

int calc_output_image(struct calc_output *output, const struct calc_choice *choice,
		      const struct machine_model *model)
{
	free(output->image);
	output->choice = choice;
	output->model = model;
	output->image_told = false;
	output->image = text_clean(choice->image->image.path);
	return output->image != NULL ? note_image(output) : -ENOMEM;
}

/* Print the headings before the first result, so that errors leave no headings without results. */
static void print_headings(struct calc_output *output)
{
	if (output->json)
		return;
	if (!output->header_told) {
		report_header_print(stdout, output->header, output->listing.width);
		putchar('\n');
	}
	if (!output->image_told)
		calc_heading_image(stdout, output->image, output->choice->code, output->model,
				   output->events, &output->choice->profile.samples);
	if (!output->image_told)
		calc_heading_counts(stdout, &output->choice->counts);
	output->header_told = output->image_told = true;
}

static void add_summary(struct stall_summary *sum, const struct procedure_analysis *analysis)
{
	const struct culprit_input input = procedure_analysis_input(analysis);

	stall_summary_add(sum, &input, &analysis->culprits);
}

static int calc_output_print_text(struct calc_output *output,
				  const struct calc_procedure *procedure,
				  const struct stall_summary *summary)
{
	calc_heading_procedure(stdout, procedure);
	if (output->evidence && calc_evidence_print(stdout, procedure) < 0)
		return -ENOMEM;
	putchar('\n');
	if (output->summary) {
		calc_summary_print(stdout, summary, procedure->all_samples);
		putchar('\n');
	} else if (calc_listing_print(stdout, procedure, &output->listing) < 0) {
		return -ENOMEM;
	}
	calc_summary_text_print(stdout, procedure);
	putchar('\n');
	return 0;
}

int calc_output_procedure(void *context, const struct procedure_analysis *analysis)
{
	struct calc_output *output = context;
	struct calc_procedure procedure = {
		.code = output->choice->code,
		.analysis = analysis,
		.image = output->image,
		.all_samples = output->all_samples,
	};
	struct stall_summary one = {0};
	_cleanup_(procedure_names_deinit) struct procedure_names names = {0};

	print_headings(output);
	output->procedures++;
	if (output->summary)
		add_summary(output->together ? &output->sum : &one, analysis);
	if (output->summary && output->together)
		return 0;
	stall_summary_settle(&one);
	if (calc_procedure_names(&names, procedure.code, analysis->index, output->demangle) < 0)
		return -ENOMEM;
	procedure.names = &names;
	if (!output->json)
		return calc_output_print_text(output, &procedure, &one);
	if (output->summary)
		calc_json_summary(stdout, output->image, image_code_build_id(procedure.code),
				  names.name, analysis->model->name, &one);
	else if (calc_json_procedure(stdout, &procedure, output->evidence) < 0)
		return -ENOMEM;
	return 0;
}

void calc_output_end(struct calc_output *output)
{
	bool sum = output->summary && output->together && output->procedures > 0;

	stall_summary_settle(&output->sum);
	if (sum && output->json)
		calc_json_summary(stdout, output->only_image, output->only_build_id, NULL,
				  output->only_model, &output->sum);
	if (sum && !output->json) {
		printf("procedures  %zu\n\n", output->procedures);
		calc_summary_print(stdout, &output->sum, output->all_samples);
	}
	free(output->image);
	free(output->only_image);
	free(output->only_build_id);
}
