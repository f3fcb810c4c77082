// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_listing.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "tools/base/heat.h"
#include "tools/base/text.h"
#include "tools/annotate/calc_blocks.h"
#include "tools/annotate/calc_bubbles.h"
#include "tools/annotate/calc_cells.h"
#include "tools/report/source_text.h"

#define TEXT_WIDTH_MIN 22
#define TEXT_WIDTH_MAX 48
/* Width of the columns besides address and instruction, with one or two culprits. */
#define OTHER_WIDTH 52

#define STYLE_BUBBLE "\033[36m"

struct listing {
	FILE *stream;
	const struct calc_procedure *procedure;
	const struct calc_listing_options *options;
	struct calc_legend legend;
	double samples;
	int address_width;
	int text_width;
	const char *file; /* of the last source line */
	unsigned int line;
	bool sampled;	      /* the block has samples; otherwise its cycles are not known */
	size_t hidden_blocks; /* since the last block that was printed */
	size_t hidden_insns;
	double hidden_samples;
};

static void color(const struct listing *listing, const char *sequence)
{
	if (listing->options->color)
		fputs(sequence, listing->stream);
}

static double calc_listing_share(const struct listing *listing, double samples)
{
	return listing->samples > 0 ? samples / listing->samples : 0;
}

static void print_best(const struct listing *listing, const struct calc_block *sums, uint32_t count)
{
	char cell[CALC_CELL_BYTES];

	calc_cells_cycles(sums->best, cell);
	fprintf(listing->stream, "*** Best-case %s/%" PRIu32 " = %.2fCPI\n*** ", cell, count,
		sums->best / count);
	if (sums->too_fast && sums->samples > 0) {
		fputs("Actual not known: fewer samples than in the best case\n", listing->stream);
		return;
	}
	if (isnan(sums->actual) || sums->samples == 0) {
		fputs("Actual not known\n", listing->stream);
		return;
	}
	calc_cells_cycles(sums->actual, cell);
	fprintf(listing->stream, "Actual %s/%" PRIu32 " = %.2fCPI\n", cell, count,
		sums->actual / count);
}

/* Both parts of the confidence, or one word if they are the same. */
static void print_estimate(FILE *stream, const struct frequency_estimate *estimate,
			   const struct calc_cells_executions *cells)
{
	const char *proportion = calc_estimate_confidence(estimate);
	const char *count = calc_count_confidence(estimate);

	fprintf(stream, "ran %s %s (%s to %s, ", cells->value, calc_cells_times(cells), cells->low,
		cells->high);
	if (strcmp(proportion, count) == 0)
		fprintf(stream, "%s confidence)\n", count);
	else
		fprintf(stream, "confidence: count %s, proportion %s)\n", count, proportion);
}

static void print_block_heading(struct listing *listing, uint32_t block)
{
	const struct calc_procedure *procedure = listing->procedure;
	const struct procedure_analysis *analysis = procedure->analysis;
	const struct frequency_estimate *estimate = &analysis->frequency.blocks[block];
	struct calc_block sums = calc_procedure_block(procedure, block);
	struct calc_cells_executions cells;

	listing->sampled = sums.samples > 0;
	color(listing, HEAT_STYLE_HEADING);
	print_best(listing, &sums, analysis->cfg->blocks[block].count);
	fprintf(listing->stream, "*** %.1f%% of the samples; ",
		100 * calc_listing_share(listing, sums.samples));
	if (!calc_cells_executions(procedure, estimate, &cells))
		fputs("number of executions not known\n", listing->stream);
	else if (estimate->origin == FREQUENCY_EXACT && estimate->low == estimate->high)
		fprintf(listing->stream, "ran %s %s, counted\n", cells.value,
			calc_cells_times(&cells));
	else if (estimate->origin == FREQUENCY_EXACT)
		fprintf(listing->stream, "ran %s %s (%s to %s), counted and scaled%s\n",
			cells.value, calc_cells_times(&cells), cells.low, cells.high,
			estimate->confidence == FREQUENCY_LOW ? ", low confidence" : "");
	else
		print_estimate(listing->stream, estimate, &cells);
	color(listing, HEAT_STYLE_NONE);
	fputc('\n', listing->stream);
}

static void print_source(struct listing *listing, uint32_t insn)
{
	const struct calc_procedure *procedure = listing->procedure;
	const char *file, *text;
	_cleanup_free_ char *clean = NULL;
	unsigned int line;

	if (listing->options->source == NULL ||
	    image_code_line(procedure->code, procedure->analysis->cfg->insns[insn].address, &file,
			    &line) < 0)
		return;
	if (listing->file != NULL && strcmp(file, listing->file) == 0 && line == listing->line)
		return;
	listing->file = file;
	listing->line = line;
	clean = text_clean(basename(file));
	text = source_text_line(listing->options->source, file, line);
	color(listing, HEAT_STYLE_SOURCE);
	fprintf(listing->stream, "%*s  %s:%u%s%s\n", listing->address_width, "",
		clean != NULL ? clean : "?", line, text != NULL ? ": " : "",
		text != NULL ? text : "");
	color(listing, HEAT_STYLE_NONE);
}

static void print_bubbles(struct listing *listing, uint32_t insn)
{
	const struct procedure_analysis *analysis = listing->procedure->analysis;
	struct instruction_cpi cpi = analysis->culprits.insns[insn];
	struct calc_bubbles bubbles;

	if (listing->options->halves)
		cpi.cpi = nearbyint(2 * cpi.cpi) / 2;
	calc_bubbles_make(&bubbles, &listing->legend, &analysis->schedule.insns[insn], &cpi,
			  analysis->culprits.list);
	for (unsigned int i = 0; i < bubbles.count; i++) {
		color(listing, STYLE_BUBBLE);
		fprintf(listing->stream, "%*s  %s", listing->address_width, "", bubbles.lines[i]);
		color(listing, HEAT_STYLE_NONE);
		fputc('\n', listing->stream);
	}
}

static void print_culprits(const struct listing *listing, uint32_t insn)
{
	const struct procedure_analysis *analysis = listing->procedure->analysis;
	uint32_t list[CALC_CELLS_CULPRITS];
	size_t count = calc_cells_culprits(analysis, insn, list);

	for (size_t i = 0; i < count; i++)
		fprintf(listing->stream, "%s0x%" PRIx64, i > 0 ? "," : "  ",
			analysis->cfg->insns[list[i]].address);
}

static void print_instruction(struct listing *listing, uint32_t insn)
{
	const struct procedure_analysis *analysis = listing->procedure->analysis;
	double samples = analysis->profile.samples[insn],
	       heat = calc_listing_share(listing, samples);
	char text[CALC_TEXT_BYTES], cell[CALC_CELL_BYTES], address[24];

	print_source(listing, insn);
	print_bubbles(listing, insn);
	calc_procedure_text(listing->procedure, insn, text);
	calc_cells_cpi(listing->procedure, insn, listing->sampled, listing->options->halves, cell);
	if (heat_style(heat) != NULL)
		color(listing, heat_style(heat));
	snprintf(address, sizeof(address), "0x%" PRIx64, analysis->cfg->insns[insn].address);
	fprintf(listing->stream, "%*s  %-*s %9.0f %5.1f%%  %12s", listing->address_width, address,
		listing->text_width, text, samples, 100 * heat, cell);
	print_culprits(listing, insn);
	if (heat_style(heat) != NULL)
		color(listing, HEAT_STYLE_NONE);
	fputc('\n', listing->stream);
}

/* Print the number of blocks omitted between two blocks. */
static void print_hidden(struct listing *listing)
{
	if (listing->hidden_blocks > 0)
		fprintf(listing->stream,
			"... %zu block%s, %zu instruction%s, %.1f%% of the samples\n\n",
			listing->hidden_blocks, listing->hidden_blocks == 1 ? "" : "s",
			listing->hidden_insns, listing->hidden_insns == 1 ? "" : "s",
			100 * calc_listing_share(listing, listing->hidden_samples));
	listing->hidden_blocks = 0;
	listing->hidden_insns = 0;
	listing->hidden_samples = 0;
}

static void print_columns(struct listing *listing)
{
	color(listing, HEAT_STYLE_HEADING);
	fprintf(listing->stream, "%-*s  %-*s %9s %6s  %12s  %s\n\n", listing->address_width, "Addr",
		listing->text_width, "Instruction", "Samples", "%", "CPI", "Culprit");
	color(listing, HEAT_STYLE_NONE);
}

static void print_block(struct listing *listing, uint32_t block)
{
	const struct cfg_block *place = &listing->procedure->analysis->cfg->blocks[block];

	print_hidden(listing);
	print_block_heading(listing, block);
	for (uint32_t i = place->first; i < place->first + place->count; i++)
		print_instruction(listing, i);
	fputc('\n', listing->stream);
}

static void hide_block(struct listing *listing, uint32_t block)
{
	const struct cfg_block *place = &listing->procedure->analysis->cfg->blocks[block];
	double samples = calc_procedure_block(listing->procedure, block).samples;

	if (calc_blocks_is_padding(place, samples))
		return;
	listing->hidden_blocks++;
	listing->hidden_insns += place->count;
	listing->hidden_samples += samples;
}

/* Make the column as wide as the longest instruction, within the limits of the terminal. */
static void set_widths(struct listing *listing, const bool *shown)
{
	const struct cfg *cfg = listing->procedure->analysis->cfg;
	size_t width = TEXT_WIDTH_MIN, most = TEXT_WIDTH_MAX;
	char text[CALC_TEXT_BYTES];

	listing->address_width =
		snprintf(NULL, 0, "0x%" PRIx64, cfg->insns[cfg->insn_count - 1].address);
	if (listing->options->width > 0) {
		size_t other = OTHER_WIDTH + (size_t)listing->address_width;

		most = listing->options->width > other ? listing->options->width - other : 0;
		most = most > TEXT_WIDTH_MAX ? TEXT_WIDTH_MAX : most;
	}
	for (uint32_t i = 0; i < cfg->insn_count && width < most; i++) {
		size_t length;

		if (!shown[cfg->block_of[i]])
			continue;
		calc_procedure_text(listing->procedure, i, text);
		length = text_width(text);
		if (length > width)
			width = length < most ? length : most;
	}
	listing->text_width = (int)width;
}

int calc_listing_print(FILE *stream, const struct calc_procedure *procedure,
		       const struct calc_listing_options *options)
{
	const struct cfg *cfg = procedure->analysis->cfg;
	struct listing listing = {
		.stream = stream,
		.procedure = procedure,
		.options = options,
		.samples = calc_procedure_samples(procedure),
	};
	_cleanup_free_ bool *shown = calc_blocks_choose(procedure, options->blocks, 0);

	if (shown == NULL)
		return -ENOMEM;
	set_widths(&listing, shown);
	print_columns(&listing);
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		if (shown[i]) {
			print_block(&listing, i);
			continue;
		}
		hide_block(&listing, i);
	}
	print_hidden(&listing);
	return 0;
}
