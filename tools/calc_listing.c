// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calc_listing.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "tools/calc_bubbles.h"
#include "tools/source_text.h"
#include "tools/text.h"

#define TEXT_WIDTH_MIN 22
#define TEXT_WIDTH_MAX 48
/* What stands beside address and instruction, with a culprit or two. */
#define OTHER_WIDTH 52
#define CULPRITS_TOLD 4
#define CELL_BYTES 48
/* More cycles are as good as any number. */
#define CPI_TOLD_MAX 100000

/* Shares of a procedure's samples from which on a line is hot, or warm. */
#define HOT 0.10
#define WARM 0.02

#define COLOR_HOT "\033[1;31m"
#define COLOR_WARM "\033[33m"
#define COLOR_BUBBLE "\033[36m"
#define COLOR_SOURCE "\033[2m"
#define COLOR_HEADING "\033[1m"
#define COLOR_NONE "\033[0m"

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
	bool sampled;	      /* the block has samples: else its cycles are not known */
	size_t hidden_blocks; /* since the last one that was printed */
	size_t hidden_insns;
	double hidden_samples;
};

static void color(const struct listing *listing, const char *sequence)
{
	if (listing->options->color)
		fputs(sequence, listing->stream);
}

static double share(const struct listing *listing, double samples)
{
	return listing->samples > 0 ? samples / listing->samples : 0;
}

/* "8", "2.3", "140": cycles of a block. */
static void print_cycles(FILE *stream, double cycles)
{
	bool whole = cycles >= 100 || fabs(cycles - nearbyint(cycles)) < 0.05;

	fprintf(stream, whole ? "%.0f" : "%.1f", cycles);
}

static void print_best(const struct listing *listing, const struct calc_block *sums, uint32_t count)
{
	FILE *stream = listing->stream;

	fputs("*** Best-case ", stream);
	print_cycles(stream, sums->best);
	fprintf(stream, "/%" PRIu32 " = %.2fCPI\n*** ", count, sums->best / count);
	if (isnan(sums->actual) || sums->samples == 0) {
		fputs("Actual not known\n", stream);
		return;
	}
	fputs("Actual ", stream);
	print_cycles(stream, sums->actual);
	fprintf(stream, "/%" PRIu32 " = %.2fCPI\n", count, sums->actual / count);
}

/* "1.23M", "417". */
static void make_count(double count, char text[CELL_BYTES])
{
	static const char units[] = "kMGTPE";
	unsigned int unit = 0;

	if (!(count >= 9999.5)) {
		snprintf(text, CELL_BYTES, "%.0f", count);
		return;
	}
	count /= 1000;
	while (count >= 999.5 && units[unit + 1] != '\0') {
		count /= 1000;
		unit++;
	}
	snprintf(text, CELL_BYTES, "%.*f%c",
		 count < 9.995	 ? 2
		 : count < 99.95 ? 1
				 : 0,
		 count, units[unit]);
}

static void print_interval(FILE *stream, double executions, double low, double high,
			   const char *confidence)
{
	char text[3][CELL_BYTES];

	make_count(executions, text[0]);
	make_count(low, text[1]);
	make_count(high, text[2]);
	fprintf(stream, "ran %s times (%s to %s, %s confidence)\n", text[0], text[1], text[2],
		confidence);
}

static void print_block_heading(struct listing *listing, uint32_t block)
{
	const struct calc_procedure *procedure = listing->procedure;
	const struct procedure_analysis *analysis = procedure->analysis;
	const struct frequency_estimate *estimate = &analysis->frequency.blocks[block];
	struct calc_block sums = calc_procedure_block(procedure, block);
	double low, high, executions = calc_procedure_executions(procedure, estimate, &low, &high);

	listing->sampled = sums.samples > 0;
	color(listing, COLOR_HEADING);
	print_best(listing, &sums, analysis->cfg->blocks[block].count);
	fprintf(listing->stream, "*** %.1f%% of the samples; ", 100 * share(listing, sums.samples));
	if (isnan(executions))
		fputs("not known how often it ran\n", listing->stream);
	else if (estimate->origin == FREQUENCY_EXACT)
		fprintf(listing->stream, "ran %.0f times, counted\n", executions);
	else
		print_interval(listing->stream, executions, low, high,
			       calc_confidence_name(estimate->confidence));
	color(listing, COLOR_NONE);
	fputc('\n', listing->stream);
}

static void print_source(struct listing *listing, uint32_t insn)
{
	const struct calc_procedure *procedure = listing->procedure;
	const char *file, *slash, *text;
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
	slash = strrchr(file, '/');
	clean = text_clean(slash != NULL ? slash + 1 : file);
	text = source_text_line(listing->options->source, file, line);
	color(listing, COLOR_SOURCE);
	fprintf(listing->stream, "%*s  %s:%u%s%s\n", listing->address_width, "",
		clean != NULL ? clean : "?", line, text != NULL ? ": " : "",
		text != NULL ? text : "");
	color(listing, COLOR_NONE);
}

/* An instruction's cycles as they are printed. */
static struct instruction_cpi cpi_of(const struct listing *listing, uint32_t insn)
{
	struct instruction_cpi cpi = listing->procedure->analysis->culprits.insns[insn];

	if (listing->options->halves)
		cpi.cpi = nearbyint(2 * cpi.cpi) / 2;
	return cpi;
}

static void print_bubbles(struct listing *listing, uint32_t insn)
{
	const struct procedure_analysis *analysis = listing->procedure->analysis;
	struct instruction_cpi cpi = cpi_of(listing, insn);
	struct calc_bubbles bubbles;

	calc_bubbles_make(&bubbles, &listing->legend, &analysis->schedule.insns[insn], &cpi,
			  analysis->culprits.list);
	for (unsigned int i = 0; i < bubbles.count; i++) {
		color(listing, COLOR_BUBBLE);
		fprintf(listing->stream, "%*s  %s", listing->address_width, "", bubbles.lines[i]);
		color(listing, COLOR_NONE);
		fputc('\n', listing->stream);
	}
}

/* "18.0cy", "(dual issue)", of estimates of little confidence a range, or "-". */
static void make_cpi(const struct listing *listing, uint32_t insn, char cell[CELL_BYTES])
{
	const struct procedure_analysis *analysis = listing->procedure->analysis;
	struct instruction_cpi cpi = cpi_of(listing, insn);
	uint32_t block = analysis->cfg->block_of[insn];
	bool is_range = analysis->frequency.blocks[block].confidence == FREQUENCY_LOW;

	if (isnan(cpi.cpi) || !listing->sampled)
		snprintf(cell, CELL_BYTES, "-");
	else if (analysis->model->in_order && cpi.cpi < 0.05 &&
		 analysis->schedule.insns[insn].issues_with_previous)
		snprintf(cell, CELL_BYTES, "(dual issue)");
	else if (is_range && !(cpi.high < CPI_TOLD_MAX))
		snprintf(cell, CELL_BYTES, ">%.1fcy", cpi.low);
	else if (is_range && cpi.high - cpi.low >= 0.1)
		snprintf(cell, CELL_BYTES, "%.1f-%.1fcy", cpi.low, cpi.high);
	else
		snprintf(cell, CELL_BYTES, "%.1fcy", cpi.cpi);
}

/* Adds an address to the list of those that are there already. */
static size_t add_culprit(uint32_t list[CULPRITS_TOLD], size_t count, uint32_t from, uint32_t insn)
{
	if (from == UINT32_MAX || from == insn || count == CULPRITS_TOLD)
		return count;
	for (size_t i = 0; i < count; i++) {
		if (list[i] == from)
			return count;
	}
	list[count] = from;
	return count + 1;
}

static void print_culprits(const struct listing *listing, uint32_t insn)
{
	const struct procedure_analysis *analysis = listing->procedure->analysis;
	const struct instruction_cpi *cpi = &analysis->culprits.insns[insn];
	const struct schedule_insn *schedule = &analysis->schedule.insns[insn];
	uint32_t list[CULPRITS_TOLD];
	size_t count = 0;

	if (isnan(cpi->cpi))
		return;
	for (uint32_t i = cpi->first; i < cpi->first + cpi->count; i++)
		count = add_culprit(list, count, analysis->culprits.list[i].from, insn);
	for (uint32_t i = 0; i < schedule->stall_count; i++) {
		if (schedule->stalls[i].kind != STALL_SLOTTING)
			count = add_culprit(list, count, schedule->stalls[i].from, insn);
	}
	for (size_t i = 0; i < count; i++)
		fprintf(listing->stream, "%s%" PRIx64, i > 0 ? "," : "  ",
			analysis->cfg->insns[list[i]].address);
}

static void print_instruction(struct listing *listing, uint32_t insn)
{
	const struct procedure_analysis *analysis = listing->procedure->analysis;
	double samples = analysis->profile.samples[insn], heat = share(listing, samples);
	char text[CALC_TEXT_BYTES], cell[CELL_BYTES];

	print_source(listing, insn);
	print_bubbles(listing, insn);
	calc_procedure_text(listing->procedure, insn, text);
	make_cpi(listing, insn, cell);
	if (heat >= WARM)
		color(listing, heat >= HOT ? COLOR_HOT : COLOR_WARM);
	fprintf(listing->stream, "%0*" PRIx64 "  %-*s %9.0f %5.1f%%  %12s", listing->address_width,
		analysis->cfg->insns[insn].address, listing->text_width, text, samples, 100 * heat,
		cell);
	print_culprits(listing, insn);
	if (heat >= WARM)
		color(listing, COLOR_NONE);
	fputc('\n', listing->stream);
}

/* Nothing leads to it, and nothing says that it ever ran. */
static bool is_padding(const struct cfg_block *block, double samples)
{
	return samples == 0 && (block->flags & CFG_BLOCK_UNREACHED) != 0;
}

/* Says what was left out between two blocks. */
static void print_hidden(struct listing *listing)
{
	if (listing->hidden_blocks > 0)
		fprintf(listing->stream,
			"... %zu block%s, %zu instruction%s, %.1f%% of the samples\n\n",
			listing->hidden_blocks, listing->hidden_blocks == 1 ? "" : "s",
			listing->hidden_insns, listing->hidden_insns == 1 ? "" : "s",
			100 * share(listing, listing->hidden_samples));
	listing->hidden_blocks = 0;
	listing->hidden_insns = 0;
	listing->hidden_samples = 0;
}

static void print_columns(struct listing *listing)
{
	color(listing, COLOR_HEADING);
	fprintf(listing->stream, "%-*s  %-*s %9s %6s  %12s  %s\n\n", listing->address_width, "Addr",
		listing->text_width, "Instruction", "Samples", "%", "CPI", "Culprit");
	color(listing, COLOR_NONE);
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

	if (is_padding(place, samples))
		return;
	listing->hidden_blocks++;
	listing->hidden_insns += place->count;
	listing->hidden_samples += samples;
}

struct heat {
	double samples;
	uint32_t block;
};

static int hottest_first(const void *a, const void *b)
{
	const struct heat *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return (x->block > y->block) - (x->block < y->block);
}

/* Which blocks to print. */
static bool *choose_blocks(const struct listing *listing)
{
	const struct cfg *cfg = listing->procedure->analysis->cfg;
	_cleanup_free_ struct heat *heat = calloc(cfg->block_count + 1, sizeof(*heat));
	bool *shown = calloc(cfg->block_count + 1, sizeof(*shown));
	size_t limit = listing->options->blocks, count = 0;

	for (uint32_t i = 0; heat != NULL && shown != NULL && i < cfg->block_count; i++) {
		double samples = calc_procedure_block(listing->procedure, i).samples;

		if (!is_padding(&cfg->blocks[i], samples))
			heat[count++] = (struct heat){.samples = samples, .block = i};
	}
	if (heat == NULL || shown == NULL) {
		free(shown);
		return NULL;
	}
	if (limit > 0 && count > 0)
		qsort(heat, count, sizeof(*heat), hottest_first);
	for (size_t i = 0; i < count && (limit == 0 || i < limit); i++)
		shown[heat[i].block] = true;
	return shown;
}

/* As wide as the longest instruction, within what the terminal has. */
static void set_widths(struct listing *listing, const bool *shown)
{
	const struct cfg *cfg = listing->procedure->analysis->cfg;
	size_t width = TEXT_WIDTH_MIN, most = TEXT_WIDTH_MAX;
	char text[CALC_TEXT_BYTES];

	listing->address_width =
		snprintf(NULL, 0, "%06" PRIx64, cfg->insns[cfg->insn_count - 1].address);
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
	_cleanup_free_ bool *shown = choose_blocks(&listing);

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
