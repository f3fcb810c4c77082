// SPDX-License-Identifier: GPL-2.0-only
#include "tools/flow/flow_block.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>

#include "tools/base/text.h"
#include "tools/annotate/calc_bubbles.h"
#include "tools/annotate/calc_cells.h"
#include "tools/flow/flow_text.h"

/* Minimum share of the procedure's samples for a costly instruction. */
#define COSTLY 0.01
/* Maximum number of characters of an instruction; longer ones would widen the block too much. */
#define TEXT_WIDTH_MAX 44
#define CPI_WIDTH 6

#define COLOR_CAUSE "#00318c"

struct block {
	FILE *stream;
	const struct calc_procedure *procedure;
	uint32_t number;
	bool all;	/* show all instructions */
	int text_width; /* of the instructions shown */
	int cpi_width;
	uint32_t causes_shown;
};

/* From white through yellow to orange. */
const struct flow_heat flow_heats[FLOW_HEATS] = {
	{0, "#ffffff"},	   {0.001, "#fffbe0"}, {0.01, "#fff0b0"},
	{0.05, "#fed976"}, {0.15, "#feb24c"},  {0.30, "#fd8d3c"},
};

static double share_of(const struct calc_procedure *procedure, double samples)
{
	double all = calc_procedure_samples(procedure);

	return all > 0 ? samples / all : 0;
}

static const char *color_of(double share)
{
	unsigned int heat = FLOW_HEATS - 1;

	while (heat > 0 && share < flow_heats[heat].least)
		heat--;
	return flow_heats[heat].color;
}

const char *flow_block_color(const struct calc_procedure *procedure, uint32_t block)
{
	return color_of(share_of(procedure, calc_procedure_block(procedure, block).samples));
}

static void begin_line(FILE *stream, const char *color)
{
	fprintf(stream, "\n    <tr><td align=\"left\" balign=\"left\" bgcolor=\"%s\">", color);
}

static void end_line(FILE *stream)
{
	fputs("</td></tr>", stream);
}

/* Print "10.62 CPI (138/13), best 0.69 (9/13)". */
static void print_cpi(FILE *stream, const struct calc_block *sums, uint32_t count)
{
	char cell[CALC_CELL_BYTES];

	calc_cells_cycles(sums->actual, cell);
	if (isnan(sums->actual) || sums->samples == 0)
		fputs("CPI not known", stream);
	else
		fprintf(stream, "<b>CPI %.2f</b> (%s/%" PRIu32 ")", sums->actual / count, cell,
			count);
	calc_cells_cycles(sums->best, cell);
	fprintf(stream, ", best %.2f (%s/%" PRIu32 ")<br/>", sums->best / count, cell, count);
}

static void print_executions(FILE *stream, const struct calc_procedure *procedure, uint32_t block)
{
	const struct frequency_estimate *estimate = &procedure->analysis->frequency.blocks[block];
	struct calc_cells_executions cells;

	if (!calc_cells_executions(procedure, estimate, &cells))
		fputs("number of executions not known", stream);
	else
		fprintf(stream, "ran %s %s%s", cells.value, calc_cells_times(&cells),
			estimate->origin == FREQUENCY_EXACT	? ", counted"
			: estimate->confidence == FREQUENCY_LOW ? ", low confidence"
								: "");
}

static void print_heading(const struct block *block)
{
	const struct calc_procedure *procedure = block->procedure;
	const struct cfg *cfg = procedure->analysis->cfg;
	const struct cfg_block *place = &cfg->blocks[block->number];
	struct calc_block sums = calc_procedure_block(procedure, block->number);

	begin_line(block->stream, flow_block_color(procedure, block->number));
	fprintf(block->stream, "<b>0x%" PRIx64 "   %.1f%%</b> of the samples<br/>",
		cfg->insns[place->first].address, 100 * share_of(procedure, sums.samples));
	print_cpi(block->stream, &sums, place->count);
	print_executions(block->stream, procedure, block->number);
	end_line(block->stream);
}

/* Print the letters of the causes, and the addresses of the culprits. */
static void print_causes(struct block *block, uint32_t insn)
{
	const struct procedure_analysis *analysis = block->procedure->analysis;
	enum culprit_cause causes[CALC_BUBBLE_CAUSES];
	unsigned int count =
		calc_bubbles_causes(causes, &analysis->schedule.insns[insn],
				    &analysis->culprits.insns[insn], analysis->culprits.list);
	uint32_t list[CALC_CELLS_CULPRITS];
	size_t culprits = count > 0 ? calc_cells_culprits(analysis, insn, list) : 0;

	if (count == 0)
		return;
	fputs("  <font color=\"" COLOR_CAUSE "\"><b>", block->stream);
	for (unsigned int i = 0; i < count; i++) {
		fputc(culprit_letter(causes[i]), block->stream);
		block->causes_shown |= 1U << causes[i];
	}
	fputs("</b>", block->stream);
	for (size_t i = 0; i < culprits; i++)
		fprintf(block->stream, "%s0x%" PRIx64, i > 0 ? "," : " ",
			analysis->cfg->insns[list[i]].address);
	fputs("</font>", block->stream);
}

/* Disassemble an instruction, truncated to TEXT_WIDTH_MAX characters. */
static void make_text(const struct calc_procedure *procedure, uint32_t insn,
		      char text[CALC_TEXT_BYTES])
{
	char *end;

	calc_procedure_text(procedure, insn, text);
	end = (char *)(uintptr_t)text_skip(text, TEXT_WIDTH_MAX);
	if (*end != '\0')
		snprintf(end, 4, "...");
}

static void print_padded(FILE *stream, const char *text, int width, bool right)
{
	int blanks = width - (int)text_width(text);

	if (right)
		fprintf(stream, "%*s", blanks > 0 ? blanks : 0, "");
	flow_text_table(stream, text);
	if (!right)
		fprintf(stream, "%*s", blanks > 0 ? blanks : 0, "");
}

static bool is_sampled(const struct block *block)
{
	return calc_procedure_block(block->procedure, block->number).samples > 0;
}

static void print_instruction(struct block *block, uint32_t insn, bool sampled)
{
	const struct procedure_analysis *analysis = block->procedure->analysis;
	double share = share_of(block->procedure, analysis->profile.samples[insn]);
	char text[CALC_TEXT_BYTES], cell[CALC_CELL_BYTES];

	make_text(block->procedure, insn, text);
	calc_cells_cpi(block->procedure, insn, sampled, false, cell);
	begin_line(block->stream, color_of(share));
	fprintf(block->stream, "0x%" PRIx64 "  ", analysis->cfg->insns[insn].address);
	print_padded(block->stream, text, block->text_width, false);
	fputs("  ", block->stream);
	print_padded(block->stream, cell, block->cpi_width, true);
	print_causes(block, insn);
	end_line(block->stream);
}

static bool is_chosen(const struct block *block, uint32_t insn)
{
	return block->all || share_of(block->procedure,
				      block->procedure->analysis->profile.samples[insn]) >= COSTLY;
}

static void widen(int *width, const char *text)
{
	int wide = (int)text_width(text);

	if (wide > *width)
		*width = wide;
}

static void set_widths(struct block *block, const struct cfg_block *place, bool sampled)
{
	char text[CALC_TEXT_BYTES], cell[CALC_CELL_BYTES];

	block->cpi_width = CPI_WIDTH;
	for (uint32_t i = place->first; i < place->first + place->count; i++) {
		if (!is_chosen(block, i))
			continue;
		make_text(block->procedure, i, text);
		widen(&block->text_width, text);
		calc_cells_cpi(block->procedure, i, sampled, false, cell);
		widen(&block->cpi_width, cell);
	}
}

static void print_code(struct block *block)
{
	const struct cfg_block *place = &block->procedure->analysis->cfg->blocks[block->number];
	bool sampled = is_sampled(block);
	uint32_t left = place->count;

	set_widths(block, place, sampled);
	for (uint32_t i = place->first; i < place->first + place->count; i++) {
		if (!is_chosen(block, i))
			continue;
		print_instruction(block, i, sampled);
		left--;
	}
	if (left == 0)
		return;
	begin_line(block->stream, flow_heats[0].color);
	fprintf(block->stream, "%" PRIu32 "%s instruction%s", left,
		left < place->count ? " more" : "", left == 1 ? "" : "s");
	end_line(block->stream);
}

uint32_t flow_block_print(FILE *stream, const struct calc_procedure *procedure, uint32_t number,
			  bool all, bool none)
{
	struct block block = {
		.stream = stream, .procedure = procedure, .number = number, .all = all};

	fputs("<table border=\"0\" cellspacing=\"0\" cellpadding=\"1\">", stream);
	print_heading(&block);
	if (!none)
		print_code(&block);
	fputs("\n    </table>", stream);
	return block.causes_shown;
}
