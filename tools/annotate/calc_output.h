/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints results of the analysis, one procedure at a time, in the selected format. */
#ifndef DCPI_CALC_OUTPUT_H
#define DCPI_CALC_OUTPUT_H

#include <stdbool.h>

#include "analysis/culprit/stall_summary.h"
#include "tools/annotate/calc_listing.h"
#include "tools/annotate/calc_select.h"

struct report_header;
struct stack_callers;

/**
 * struct calc_output - format, and data common to all procedures
 * @json:        lines of JSON; else text
 * @summary:     sums by cause; else all instructions
 * @together:    one summary of all procedures, printed by calc_output_end(); else one per procedure
 * @why:         a short answer: JSON of calc_why.h, or only the sentences of a summary
 * @evidence:    also print the evidence of estimates
 * @brief:       print the header as one line, and no more of an image than its path
 * @data:        text: print the data of instructions, no listing
 * @demangle:    print names as in the source, not as linkers do
 * @listing:     format of listings
 * @header:      printed before text
 * @events:      events of the samples
 * @all_samples: of time, in all images, which shares are of
 * @include: classes of samples that shares include
 * @probes:      in the selected epochs
 * @callers:     of the only procedure; NULL: not known
 *
 * The rest is private; initially zero.
 */
struct calc_output {
	bool json;
	bool summary;
	bool together;
	bool why;
	bool evidence;
	bool brief;
	bool data;
	bool demangle;
	struct calc_listing_options listing;
	const struct report_header *header;
	const struct calc_events *events;
	double all_samples;
	struct included_samples include;
	enum profiler_probes probes;
	const struct stack_callers *callers;

	const struct calc_choice *choice;
	const struct machine_model *model;
	char *image;
	bool header_printed;
	bool image_printed;
	struct stall_summary sum;
	size_t procedures;
	size_t images;
	char *only_image; /* only if there is exactly one */
	char *only_build_id;
	const char *only_model;
};

/**
 * calc_output_image() - set the image of the procedures that follow
 * @choice: owned by the caller; must stay open until the next image or the end
 *
 * Return: 0 or -ENOMEM.
 */
int calc_output_image(struct calc_output *output, const struct calc_choice *choice,
		      const struct machine_model *model);

/**
 * calc_output_procedure() - print a procedure; an image_analysis_fn
 * @context: struct calc_output
 *
 * Return: 0 or -ENOMEM.
 */
int calc_output_procedure(void *context, const struct procedure_analysis *analysis);

/** calc_output_end() - print the summary of all procedures, if requested, and free */
void calc_output_end(struct calc_output *output);

#endif
