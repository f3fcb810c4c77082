// SPDX-License-Identifier: GPL-2.0-only
#include "tools/flow/flow_dot.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "tools/annotate/calc_blocks.h"
#include "tools/annotate/calc_bubbles.h"
#include "tools/annotate/calc_cells.h"
#include "tools/annotate/calc_summary_text.h"
#include "tools/flow/flow_block.h"
#include "tools/flow/flow_text.h"

/* Pictures with at most this many instructions show all of them. */
#define CODE_MAX 150

/* Widths of lines in points, of an edge that never runs and of the most frequent edge. */
#define WIDTH_MIN 0.6
#define WIDTH_MAX 6.0
/* Edges with a smaller part of the highest frequency are grey. */
#define COLD 0.01

#define COLOR_COLD "#999999"
#define COLOR_WARM "#333333"
#define COLOR_PROBLEM "#c0001a"
#define COLOR_LEFT_OUT "#777777"

/*
 * In pictures of at most this many blocks, the layout makes room for labels, which takes Graphviz
 * ten times as long. In larger pictures, numbers are printed at the start of a line, and only for
 * frequent edges.
 */
#define LABELS_MAX 40

/* Characters in a line of the title. */
#define TITLE_WIDTH 100

#define TARGET_BYTES (CALC_TEXT_BYTES + 16)

struct flow {
	FILE *stream;
	const struct calc_procedure *procedure;
	const struct flow_options *options;
	const bool *shown; /* by block */
	double most;	   /* highest frequency of all edges */
	uint32_t shown_blocks;
	uint32_t shown_insns;
	uint32_t causes_shown; /* causes whose letters are in the picture */
	bool dashed;	       /* something is dashed */
	bool left_out;	       /* an edge leads to a block that was left out */
	size_t ends;	       /* number of nodes that are not blocks so far */
};

static double flow_dot_share(const struct flow *flow, double samples)
{
	double all = calc_procedure_samples(flow->procedure);

	return all > 0 ? samples / all : 0;
}

static bool is_low(const struct frequency_estimate *estimate)
{
	return estimate->origin != FREQUENCY_EXACT && estimate->confidence == FREQUENCY_LOW;
}

/* Print the tooltip of a block or an edge. */
static void print_tooltip(const struct flow *flow, const struct frequency_estimate *estimate)
{
	struct calc_cells_executions cells;
	char text[256];

	if (!calc_cells_executions(flow->procedure, estimate, &cells))
		snprintf(text, sizeof(text), "number of executions not known");
	else if (estimate->origin == FREQUENCY_EXACT)
		snprintf(text, sizeof(text), "ran %s %s, counted", cells.value,
			 calc_cells_times(&cells));
	else
		snprintf(text, sizeof(text), "ran %s %s (%s to %s, %s confidence)", cells.value,
			 calc_cells_times(&cells), cells.low, cells.high,
			 calc_estimate_confidence(estimate));
	fputs("tooltip=", flow->stream);
	flow_text_quoted(flow->stream, text);
}

static void print_block(struct flow *flow, uint32_t block)
{
	const struct frequency_estimate *estimate =
		&flow->procedure->analysis->frequency.blocks[block];
	bool all = flow->options->code == FLOW_CODE_ALL || flow->shown_insns <= CODE_MAX;
	bool low = is_low(estimate);

	flow->dashed |= low;
	fprintf(flow->stream, "  b%" PRIu32 " [fillcolor=\"%s\", %s", block,
		flow_block_color(flow->procedure, block), low ? "style=\"filled,dashed\", " : "");
	print_tooltip(flow, estimate);
	fputs(", label=<", flow->stream);
	flow->causes_shown |= flow_block_print(flow->stream, flow->procedure, block, all,
					       flow->options->code == FLOW_CODE_NONE);
	fputs(">];\n", flow->stream);
}

/* Print a small node for an edge that leaves or enters the picture. Return: its number. */
static size_t print_end(struct flow *flow, const char *text, const char *color)
{
	fprintf(flow->stream,
		"  e%zu [shape=plaintext, height=0.2, fontcolor=\"%s\", label=", flow->ends, color);
	flow_text_quoted(flow->stream, text);
	fputs("];\n", flow->stream);
	return flow->ends++;
}

/* Make the text for a jump out of the procedure, with its target. */
static void make_target(const struct flow *flow, uint32_t insn, char text[TARGET_BYTES])
{
	char code[CALC_TEXT_BYTES];
	const char *name;

	calc_procedure_text(flow->procedure, insn, code);
	name = strchr(code, '<');
	snprintf(text, TARGET_BYTES, "jump to %s", name != NULL ? name : "elsewhere");
}

static void make_end(const struct flow *flow, const struct cfg_edge *edge, char text[TARGET_BYTES],
		     const char **color)
{
	*color = "black";
	switch (edge->kind) {
	case CFG_EDGE_TAIL:
		make_target(flow, edge->insn, text);
		return;
	case CFG_EDGE_STOP:
		snprintf(text, TARGET_BYTES, "does not return");
		return;
	case CFG_EDGE_UNKNOWN:
		*color = COLOR_PROBLEM;
		snprintf(text, TARGET_BYTES, "%s",
			 edge->from == CFG_UNKNOWN ? "from an unknown source"
						   : "to an unknown target");
		return;
	default:
		snprintf(text, TARGET_BYTES, "%s", edge->from == CFG_ENTRY ? "entry" : "return");
	}
}

static double frequency_of(const struct flow *flow, uint32_t edge)
{
	const struct frequency_estimate *estimate =
		&flow->procedure->analysis->frequency.edges[edge];

	return estimate->origin == FREQUENCY_NONE ? NAN : estimate->value;
}

/* Print the share of an edge among the edges of its block, unless it is the only one. */
static void print_probability(const struct flow *flow, const struct cfg_edge *edge,
			      double frequency)
{
	const struct procedure_analysis *analysis = flow->procedure->analysis;
	const struct cfg_block *from;
	double sum = 0;

	if (edge->from >= analysis->cfg->block_count)
		return;
	from = &analysis->cfg->blocks[edge->from];
	for (uint32_t i = from->out; i < from->out + from->out_count; i++)
		sum += frequency_of(flow, i);
	if (from->out_count < 2 || !(sum > 0))
		return;
	frequency *= 100 / sum;
	if (frequency < 0.05)
		fputs("\\n&lt;0.1%", flow->stream);
	else
		fprintf(flow->stream, frequency < 9.95 ? "\\n%.1f%%" : "\\n%.0f%%", frequency);
}

/* Return the Graphviz attribute for labels of edges. */
static const char *flow_dot_label_of(const struct flow *flow)
{
	return flow->shown_blocks <= LABELS_MAX ? "label" : "taillabel";
}

static void print_label(const struct flow *flow, const struct cfg_edge *edge,
			const struct frequency_estimate *estimate)
{
	struct calc_cells_executions cells;

	fprintf(flow->stream, "%s=\"", flow_dot_label_of(flow));
	if (calc_cells_executions(flow->procedure, estimate, &cells)) {
		fprintf(flow->stream, " %s", cells.value);
		print_probability(flow, edge, estimate->value);
	} else {
		fputs(" ?", flow->stream);
	}
	fputs("\", ", flow->stream);
}

/* Print the width and colour by frequency; fall-through edges are drawn as straight as possible. */
static void print_attributes(struct flow *flow, uint32_t number)
{
	const struct cfg_edge *edge = &flow->procedure->analysis->cfg->edges[number];
	const struct frequency_estimate *estimate =
		&flow->procedure->analysis->frequency.edges[number];
	double frequency = frequency_of(flow, number);
	double heat = frequency > 0 && flow->most > 0 ? frequency / flow->most : 0;
	bool low = is_low(estimate);
	const char *color = heat < COLD ? COLOR_COLD : COLOR_WARM;

	flow->dashed |= low;
	if (edge->kind == CFG_EDGE_UNKNOWN)
		color = COLOR_PROBLEM;
	fprintf(flow->stream, " [penwidth=%.2f, color=\"%s\", weight=%d, ",
		WIDTH_MIN + (WIDTH_MAX - WIDTH_MIN) * sqrt(heat), color,
		1 + (int)(20 * heat) + (edge->kind == CFG_EDGE_NEXT));
	if (low)
		fputs("style=\"dashed\", ", flow->stream);
	if (heat >= COLD || flow->shown_blocks <= LABELS_MAX)
		print_label(flow, edge, estimate);
	fputs("edge", flow->stream);
	print_tooltip(flow, estimate);
	fputs(", label", flow->stream);
	print_tooltip(flow, estimate);
	fputs("];\n", flow->stream);
}

static bool is_shown(const struct flow *flow, uint32_t node)
{
	return node < flow->procedure->analysis->cfg->block_count && flow->shown[node];
}

static bool is_left_out(const struct flow *flow, uint32_t node)
{
	return node < flow->procedure->analysis->cfg->block_count && !flow->shown[node];
}

static void print_node(const struct flow *flow, uint32_t block, size_t end)
{
	if (is_shown(flow, block))
		fprintf(flow->stream, "b%" PRIu32, block);
	else
		fprintf(flow->stream, "e%zu", end);
}

static void print_edge(struct flow *flow, uint32_t number)
{
	const struct cfg_edge *edge = &flow->procedure->analysis->cfg->edges[number];
	char text[TARGET_BYTES];
	const char *color;
	size_t end = 0;

	if (!is_shown(flow, edge->from) && !is_shown(flow, edge->to))
		return;
	if (is_left_out(flow, edge->from) || is_left_out(flow, edge->to)) {
		flow->left_out = true;
		return;
	}
	if (!is_shown(flow, edge->from) || !is_shown(flow, edge->to)) {
		make_end(flow, edge, text, &color);
		end = print_end(flow, text, color);
	}
	fputs("  ", flow->stream);
	print_node(flow, edge->from, end);
	fputs(" -> ", flow->stream);
	print_node(flow, edge->to, end);
	print_attributes(flow, number);
}

/* Print one line for all edges between a block and blocks that were left out. */
static void print_left_out(struct flow *flow, uint32_t block, bool out)
{
	const struct cfg *cfg = flow->procedure->analysis->cfg;
	const struct cfg_block *place = &cfg->blocks[block];
	uint32_t first = out ? place->out : place->in;
	uint32_t count = out ? place->out_count : place->in_count, edges = 0;
	double sum = 0, heat;
	char cell[CALC_CELL_BYTES];
	size_t end;

	for (uint32_t i = first; i < first + count; i++) {
		uint32_t number = out ? i : cfg->in_edges[i];
		const struct cfg_edge *edge = &cfg->edges[number];

		if (!is_left_out(flow, out ? edge->to : edge->from))
			continue;
		edges++;
		sum += frequency_of(flow, number);
	}
	if (edges == 0)
		return;
	end = print_end(flow, "...", COLOR_LEFT_OUT);
	heat = sum > 0 && flow->most > 0 ? fmin(sum / flow->most, 1) : 0;
	calc_cells_count(sum * flow->procedure->analysis->profile.period_cycles, cell);
	fprintf(flow->stream, out ? "  b%" PRIu32 " -> e%zu" : "  e%2$zu -> b%1$" PRIu32, block,
		end);
	fprintf(flow->stream,
		" [penwidth=%.2f, color=\"%s\", %s=\" %s\", edgetooltip=\"%" PRIu32
		" edge%s %s omitted blocks\"];\n",
		WIDTH_MIN + (WIDTH_MAX - WIDTH_MIN) * sqrt(heat), COLOR_LEFT_OUT,
		flow_dot_label_of(flow), isnan(sum) ? "?" : cell, edges, edges == 1 ? "" : "s",
		out ? "to" : "from");
}

static void print_note(const struct flow *flow, const char *format, double number, const char *unit)
{
	fputs("<tr><td align=\"left\"><font color=\"" COLOR_PROBLEM "\">", flow->stream);
	fprintf(flow->stream, format, number, unit, number == 1 ? "" : "s");
	fputs("</font></td></tr>\n", flow->stream);
}

/* Print the parts that the analysis lacks. */
static void print_notes(const struct flow *flow)
{
	const struct procedure_analysis *analysis = flow->procedure->analysis;
	const struct cfg *cfg = analysis->cfg;

	if (cfg->unresolved_jumps > 0)
		print_note(flow, "%.0f %s%s with an unknown target", cfg->unresolved_jumps, "jump");
	if (cfg->bad_bytes > 0)
		print_note(flow, "%.0f %s%s that cannot be decoded", (double)cfg->bad_bytes,
			   "byte");
	if (analysis->profile.unmatched > 0)
		print_note(flow, "%.0f %s%s not at the start of an instruction",
			   analysis->profile.unmatched, "sample");
}

static void print_hidden(const struct flow *flow)
{
	const struct cfg *cfg = flow->procedure->analysis->cfg;
	uint32_t blocks = 0;
	double samples = 0;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		double of_block = calc_procedure_block(flow->procedure, i).samples;

		if (flow->shown[i] || calc_blocks_is_padding(&cfg->blocks[i], of_block))
			continue;
		blocks++;
		samples += of_block;
	}
	if (blocks > 0)
		fprintf(flow->stream,
			"<tr><td align=\"left\">omitted (...): %" PRIu32
			" block%s with %.1f%% of the samples</td></tr>\n",
			blocks, blocks == 1 ? "" : "s", 100 * flow_dot_share(flow, samples));
}

/* Print the meaning of the colours and letters in the picture. */
static void print_legend(const struct flow *flow)
{
	fputs("<tr><td align=\"left\"><table border=\"0\" cellborder=\"1\" cellspacing=\"0\" "
	      "cellpadding=\"3\"><tr><td border=\"0\">share of the samples</td>",
	      flow->stream);
	for (unsigned int i = 1; i < FLOW_HEATS; i++)
		fprintf(flow->stream, "<td bgcolor=\"%s\">%g%%</td>", flow_heats[i].color,
			100 * flow_heats[i].least);
	fputs("<td border=\"0\">and more; width of lines: executions</td></tr></table></td></tr>\n",
	      flow->stream);
	if (flow->dashed)
		fputs("<tr><td align=\"left\">dashed: low confidence in the executions</td></tr>\n",
		      flow->stream);
	if (flow->causes_shown == 0)
		return;
	fputs("<tr><td align=\"left\">possible causes of stalls:", flow->stream);
	for (unsigned int i = 0; i <= CULPRIT_CAUSES; i++) {
		if ((flow->causes_shown >> i & 1) != 0)
			fprintf(flow->stream, " <b>%c</b> %s ",
				culprit_letter((enum culprit_cause)i),
				calc_bubbles_cause((enum culprit_cause)i));
	}
	fputs("</td></tr>\n", flow->stream);
}

/*
 * Print dcpicalc's description of the worst stall, wrapped so that it does not widen the picture.
 */
static int print_worst(const struct flow *flow)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes = 0, width = 0;
	FILE *stream = open_memstream(&text, &bytes);
	char *place, *word;

	if (stream == NULL)
		return -ENOMEM;
	calc_summary_text_print(stream, flow->procedure);
	if (fclose(stream) != 0)
		return -ENOMEM;
	fputs("<tr><td align=\"left\" balign=\"left\">", flow->stream);
	for (word = strtok_r(text, " \n", &place); word != NULL;
	     word = strtok_r(NULL, " \n", &place)) {
		if (width > 0 && width + strlen(word) > TITLE_WIDTH) {
			fputs("<br/>", flow->stream);
			width = 0;
		}
		width += strlen(word) + 1;
		flow_text_table(flow->stream, word);
		fputc(' ', flow->stream);
	}
	fputs("</td></tr>\n", flow->stream);
	return 0;
}

/* Print the label of the whole graph, last, because it depends on the rest. */
static int print_title(const struct flow *flow)
{
	const struct calc_procedure *procedure = flow->procedure;
	const struct procedure_analysis *analysis = procedure->analysis;
	double samples = calc_procedure_samples(procedure);

	fputs("  label=<<table border=\"0\" cellspacing=\"0\" cellpadding=\"1\">\n"
	      "<tr><td align=\"left\"><font point-size=\"16\"><b>",
	      flow->stream);
	flow_text_table(flow->stream, procedure->names->name);
	flow_text_table(flow->stream, procedure->names->note);
	fputs("</b></font></td></tr>\n<tr><td align=\"left\">", flow->stream);
	flow_text_table(flow->stream, procedure->image);
	fprintf(flow->stream, "</td></tr>\n<tr><td align=\"left\">%.0f samples of ", samples);
	flow_text_table(flow->stream, flow->options->time);
	if (procedure->all_samples > 0)
		fprintf(flow->stream, ", %.1f%% of all", 100 * samples / procedure->all_samples);
	fprintf(flow->stream,
		"; model %s; %" PRIu32 " instruction%s in %" PRIu32 " block%s</td></tr>\n",
		analysis->model->name, analysis->cfg->insn_count,
		analysis->cfg->insn_count == 1 ? "" : "s", analysis->cfg->block_count,
		analysis->cfg->block_count == 1 ? "" : "s");
	print_notes(flow);
	print_hidden(flow);
	if (print_worst(flow) < 0)
		return -ENOMEM;
	print_legend(flow);
	fputs("</table>>;\n", flow->stream);
	return 0;
}

static void print_graph_begin(const struct flow *flow)
{
	fputs("digraph ", flow->stream);
	flow_text_quoted(flow->stream, flow->procedure->names->name);
	fputs(" {\n"
	      "  graph [charset=\"UTF-8\", labelloc=\"t\", labeljust=\"l\", "
	      "fontname=\"Helvetica\", "
	      "fontsize=11, nodesep=0.35, ranksep=0.45];\n"
	      "  node [shape=box, style=\"filled\", fillcolor=\"white\", fontname=\"Courier\", "
	      "fontsize=10, "
	      "margin=\"0.05,0.03\"];\n"
	      "  edge [fontname=\"Helvetica\", fontsize=9, arrowsize=0.7];\n",
	      flow->stream);
}

static void measure(struct flow *flow)
{
	const struct cfg *cfg = flow->procedure->analysis->cfg;

	for (uint32_t i = 0; i < cfg->block_count; i++) {
		if (!flow->shown[i])
			continue;
		flow->shown_blocks++;
		flow->shown_insns += cfg->blocks[i].count;
	}
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		flow->most = fmax(flow->most, frequency_of(flow, i));
}

int flow_dot_print(FILE *stream, const struct calc_procedure *procedure,
		   const struct flow_options *options)
{
	const struct cfg *cfg = procedure->analysis->cfg;
	_cleanup_free_ bool *shown = calc_blocks_choose(procedure, options->blocks, options->share);
	struct flow flow = {
		.stream = stream, .procedure = procedure, .options = options, .shown = shown};

	if (shown == NULL)
		return -ENOMEM;
	measure(&flow);
	print_graph_begin(&flow);
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		if (shown[i])
			print_block(&flow, i);
	}
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		print_edge(&flow, i);
	for (uint32_t i = 0; flow.left_out && i < cfg->block_count; i++) {
		if (!shown[i])
			continue;
		print_left_out(&flow, i, false);
		print_left_out(&flow, i, true);
	}
	if (print_title(&flow) < 0)
		return -ENOMEM;
	fputs("}\n", stream);
	return 0;
}
