// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "tools/base/text.h"
#include "tools/annotate/calc_data.h"
#include "tools/annotate/calc_evidence.h"
#include "tools/annotate/calc_heading.h"
#include "tools/annotate/calc_json.h"
#include "tools/annotate/calc_sentence.h"
#include "tools/annotate/calc_summary.h"
#include "tools/annotate/calc_summary_text.h"
#include "tools/annotate/calc_why.h"
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
	output->image_printed = false;
	output->image = text_clean(choice->image->image.path);
	return output->image != NULL ? note_image(output) : -ENOMEM;
}

/* Print the headings before the first result, so that errors leave no headings without results. */
static void print_headings(struct calc_output *output)
{
	if (output->json)
		return;
	if (!output->header_printed) {
		if (output->brief)
			report_header_print_brief(stdout, output->header, output->listing.width);
		else
			report_header_print(stdout, output->header, output->listing.width);
		putchar('\n');
	}
	if (!output->image_printed && output->brief)
		printf("image       %s\n", output->image);
	else if (!output->image_printed)
		calc_heading_image(stdout, output->image, output->choice->code, output->model,
				   output->events, &output->choice->profile.samples);
	if (!output->image_printed)
		calc_heading_counts(stdout, &output->choice->counts);
	output->header_printed = output->image_printed = true;
}

static void add_summary(struct stall_summary *sum, const struct procedure_analysis *analysis)
{
	const struct culprit_input input = procedure_analysis_input(analysis);

	stall_summary_add(sum, &input, &analysis->culprits);
}

/* Wrapped to the terminal's width. */
static void calc_output_print_sentence(const struct calc_output *output,
				       const struct calc_procedure *procedure)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	FILE *memory = open_memstream(&text, &bytes);

	if (memory == NULL)
		return;
	calc_sentence_print(memory, procedure);
	if (fclose(memory) == 0 && output->listing.width > 0)
		text_wrap(stdout, text, output->listing.width, 0, 0);
	else if (text != NULL)
		fputs(text, stdout);
	putchar('\n');
}

static int calc_output_print_text(struct calc_output *output,
				  const struct calc_procedure *procedure,
				  const struct stall_summary *summary)
{
	if (calc_heading_procedure(stdout, procedure, output->listing.width) < 0)
		return -ENOMEM;
	if (output->callers != NULL)
		calc_heading_callers(stdout, output->callers);
	if (output->evidence && calc_evidence_print(stdout, procedure) < 0)
		return -ENOMEM;
	putchar('\n');
	calc_output_print_sentence(output, procedure);
	if (output->data) {
		int r = calc_data_table(stdout, procedure);

		putchar('\n');
		return r;
	}
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

static int print_why(const struct calc_output *output, const struct calc_procedure *procedure)
{
	if (output->json)
		return calc_why_print(stdout, procedure);
	if (calc_heading_procedure(stdout, procedure, output->listing.width) < 0)
		return -ENOMEM;
	putchar('\n');
	calc_output_print_sentence(output, procedure);
	calc_summary_text_print(stdout, procedure);
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
	const struct calc_json_options options = {.evidence = output->evidence,
						  .callers = output->callers};
	struct stall_summary one = {0};
	enum profiler_class class;
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
	class = profiler_class_of(&output->choice->image->image, names.name, output->probes);
	procedure.mark = profiler_class_mark(class);
	if (profiler_class_excluded(class, &output->include))
		procedure.all_samples = 0;
	if (output->why)
		return print_why(output, &procedure);
	if (!output->json)
		return calc_output_print_text(output, &procedure, &one);
	if (output->summary)
		calc_json_summary(stdout, output->image, image_code_build_id(procedure.code),
				  names.name, analysis->model->name, &one);
	else if (calc_json_procedure(stdout, &procedure, &options) < 0)
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
