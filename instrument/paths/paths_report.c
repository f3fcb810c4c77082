// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/paths/paths_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/image_code.h"
#include "instrument/paths/paths_listing.h"
#include "instrument/profile/report_text.h"
#include "lib/error.h"
#include "lib/error_text.h"

static double paths_report_share(uint64_t part, uint64_t all)
{
	return all > 0 ? (double)part / (double)all : 0;
}

static double paths_report_percent(uint64_t part, uint64_t all)
{
	return 100 * paths_report_share(part, all);
}

static const char *class_name(enum paths_class class)
{
	static const char *const names[] = {[PATHS_COLD] = "cold",
					    [PATHS_HOT] = "hot",
					    [PATHS_DENSE] = "dense",
					    [PATHS_SPARSE] = "sparse"};

	return names[class];
}

/* --- summary -------------------------------------------------------------- */

struct class_sum {
	uint64_t rows;
	uint64_t insns;
	uint64_t metric;
};

static void print_class(FILE *out, const struct paths_listing *listing, const char *name,
			const struct class_sum *sum)
{
	fprintf(out, "%-8s %10" PRIu64 " %13.1f%%", name, sum->rows,
		paths_report_percent(sum->insns, listing->all.insns));
	if (listing->metric)
		fprintf(out, " %9.1f%%", paths_report_percent(sum->metric, listing->all.metric));
	putc('\n', out);
}

static void print_classes(FILE *out, const struct paths_listing *listing, const char *rows,
			  const struct class_sum sums[PATHS_CLASSES])
{
	struct class_sum hot = sums[PATHS_HOT];

	for (enum paths_class class = PATHS_DENSE; class <= PATHS_SPARSE; class ++) {
		hot.rows += sums[class].rows;
		hot.insns += sums[class].insns;
		hot.metric += sums[class].metric;
	}
	fprintf(out, "\n%-8s %10s  instructions", "", rows);
	if (listing->metric)
		fprintf(out, " %10s", listing->map->metric);
	putc('\n', out);
	print_class(out, listing, "hot", &hot);
	if (listing->metric) {
		print_class(out, listing, "  dense", &sums[PATHS_DENSE]);
		print_class(out, listing, "  sparse", &sums[PATHS_SPARSE]);
	}
	print_class(out, listing, "cold", &sums[PATHS_COLD]);
	putc('\n', out);
}

static void print_measured(FILE *out, const struct paths_listing *listing)
{
	const struct paths_cost *cost = &listing->profile->cost;

	fprintf(out,
		"%.2f%% of executions were measured; not measured: paths with %.2f%% of "
		"instructions\n",
		paths_report_percent(listing->all.timed, listing->all.count),
		paths_report_percent(listing->all.untimed, listing->all.insns));
	if (cost->used == 0)
		return;
	fprintf(out,
		"subtracted: %.1f cycles (%.1f to %.1f) for recording a path, %.1f for reading the "
		"clock\n",
		cost->recording, cost->recording_low, cost->recording_high, cost->clock);
	if (cost->interrupted > 0)
		fprintf(out, "left out: %" PRIu64 " of %" PRIu64 " groups of paths, interrupted\n",
			cost->interrupted, cost->used + cost->interrupted);
}

static void print_header(FILE *out, const struct paths_listing *listing)
{
	const struct paths_map *map = listing->map;
	const struct paths_profile *profile = listing->profile;
	struct paths_loss loss = {0};
	uint64_t possible = 0;

	for (size_t p = 0; p < map->procedure_count; p++) {
		possible += map->procedures[p].graph.count;
		loss.unfinished += profile->losses[p].unfinished;
		loss.lost += profile->losses[p].lost;
		loss.overflow += profile->losses[p].overflow;
	}
	fputs("paths of ", out);
	report_text_name(out, map->path, false);
	fprintf(out, "; %zu file%s, %" PRIu64 " thread%s; metric: %s\n", profile->files,
		profile->files == 1 ? "" : "s", profile->threads, profile->threads == 1 ? "" : "s",
		listing->metric ? map->metric : "none, instructions instead");
	if (listing->metric && listing->all.timed < listing->all.count)
		print_measured(out, listing);
	fprintf(out,
		"%" PRIu64 " executions of %zu path%s, of %" PRIu64
		" possible ones in %zu procedure%s\n",
		listing->all.count, listing->path_count, listing->path_count == 1 ? "" : "s",
		possible, map->procedure_count, map->procedure_count == 1 ? "" : "s");
	fprintf(out,
		"lost: %" PRIu64 " not finished, %" PRIu64 " without number, %" PRIu64
		" without memory\n",
		loss.unfinished, loss.lost, loss.overflow);
}

/* --- paths ---------------------------------------------------------------- */

static void print_line(FILE *out, struct image_code *code, uint64_t address, uint64_t last)
{
	unsigned int line, end;
	const char *file, *other;

	if (code == NULL || image_code_line(code, address, &file, &line) < 0)
		return;
	fputs("  ", out);
	report_text_name(out, file, false);
	fprintf(out, ":%u", line);
	/* Code inlined at the end may be from another file. */
	if (image_code_line(code, last, &other, &end) == 0 && strcmp(file, other) == 0 &&
	    end > line)
		fprintf(out, "-%u", end);
}

/* Contiguous pieces are printed as one: they are divided by calls. */
void paths_report_blocks(FILE *out, const struct paths_row *row, struct image_code *code)
{
	for (size_t i = 0; i < row->node_count;) {
		uint64_t start = row->nodes[i]->address, end = start;
		uint32_t insns = 0;

		for (; i < row->node_count &&
		       (row->nodes[i]->address == end || row->nodes[i]->bytes == 0);
		     i++) {
			insns += row->nodes[i]->insns;
			end += row->nodes[i]->bytes;
		}
		if (insns == 0)
			continue;
		fprintf(out, "    %#10" PRIx64 " %4" PRIu32, start, insns);
		print_line(out, code, start, end - 1);
		putc('\n', out);
	}
	if (row->next != 0)
		fprintf(out, "    continues at 0x%" PRIx64 "\n", row->next);
}

static void print_path(FILE *out, const struct paths_listing *listing, const struct paths_row *row,
		       const struct paths_report_options *options)
{
	const struct paths_procedure *procedure = &listing->map->procedures[row->sum->procedure];

	fprintf(out, "%5.1f%% %13" PRIu64 " times %5" PRIu64 " instructions",
		100 * paths_listing_share(listing, row->insns, row->metric), row->sum->count,
		row->sum->count > 0 ? row->insns / row->sum->count : 0);
	if (listing->metric && row->sum->timed > 0)
		fprintf(out, " %9.1f %s", paths_report_share(row->metric, row->sum->count),
			listing->map->metric);
	else if (listing->metric)
		fprintf(out, " %9s %s", "?", listing->map->metric);
	fprintf(out, "  %-6s ", class_name(row->class));
	report_text_procedure(out, procedure->name, false);
	fprintf(out, ", path %" PRIu32 " of %" PRIu32 "\n", row->sum->number + 1,
		procedure->graph.count);
	if (options->print_context != NULL) {
		fputs("    in ", out);
		options->print_context(out, options->contexts, row->sum->context);
		putc('\n', out);
	}
	paths_report_blocks(out, row, options->code);
}

static void print_path_csv(FILE *out, const struct paths_listing *listing,
			   const struct paths_row *row, bool contexts)
{
	const struct paths_procedure *procedure = &listing->map->procedures[row->sum->procedure];
	bool first = true;

	fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,%" PRIu32 ",%" PRIx64 ",",
		row->sum->count, row->insns, row->metric, class_name(row->class), row->sum->number,
		procedure->address);
	report_text_procedure(out, procedure->name, true);
	putc(',', out);
	for (size_t i = 0; i < row->node_count; i++) {
		if (row->nodes[i]->bytes == 0)
			continue;
		fprintf(out, "%s%" PRIx64, first ? "" : " ", row->nodes[i]->address);
		first = false;
	}
	fprintf(out, ",%" PRIx64 ",%" PRIu64, row->next, row->sum->timed);
	if (contexts)
		fprintf(out, ",%" PRIu32, row->sum->context);
	putc('\n', out);
}

static void print_hot_blocks(FILE *out, const struct paths_listing *listing)
{
	double blocks = (double)listing->hot_blocks;

	if (listing->hot_blocks > 0)
		fprintf(out,
			"blocks on hot paths: %" PRIu64 ", each on %.1f executed paths (%.1f hot "
			"ones)\n\n",
			listing->hot_blocks, (double)listing->through / blocks,
			(double)listing->through_hot / blocks);
}

static void print_paths(FILE *out, struct paths_listing *listing,
			const struct paths_report_options *options)
{
	struct class_sum sums[PATHS_CLASSES] = {0};
	size_t count = options->limit > 0 && options->limit < listing->path_count
			       ? options->limit
			       : listing->path_count;

	for (size_t i = 0; i < listing->path_count; i++) {
		const struct paths_row *row = &listing->paths[i];

		sums[row->class].rows++;
		sums[row->class].insns += row->insns;
		sums[row->class].metric += row->metric;
	}
	if (options->csv)
		fprintf(out,
			"count,instructions,metric,class,path,address,procedure,blocks,next,"
			"measured%s\n",
			options->print_context != NULL ? ",context" : "");
	else
		print_classes(out, listing, "paths", sums);
	if (!options->csv && options->print_context == NULL)
		print_hot_blocks(out, listing);
	for (size_t i = 0; i < count; i++) {
		if (options->csv)
			print_path_csv(out, listing, &listing->paths[i],
				       options->print_context != NULL);
		else
			print_path(out, listing, &listing->paths[i], options);
	}
	if (!options->csv && count < listing->path_count)
		fprintf(out, "... %zu more\n", listing->path_count - count);
}

/* --- procedures ----------------------------------------------------------- */

static void print_procedure(FILE *out, const struct paths_listing *listing,
			    const struct paths_procedure_row *row, bool csv)
{
	const struct paths_procedure *procedure = &listing->map->procedures[row->procedure];
	const struct paths_loss *loss = &listing->profile->losses[row->procedure];

	if (csv)
		fprintf(out,
			"%zu,%zu,%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64
			",%" PRIu64 ",%" PRIu64 ",%" PRIx64 ",",
			row->hot, row->paths, procedure->graph.count, row->count, row->insns,
			row->metric, class_name(row->class), loss->unfinished, loss->lost,
			loss->overflow, procedure->address);
	else
		fprintf(out,
			"%5zu %6zu %10" PRIu32 " %14" PRIu64 " %13.1f%% %9.1f%%  %-6s %10" PRIu64
			"  ",
			row->hot, row->paths, procedure->graph.count, row->count,
			paths_report_percent(row->insns, listing->all.insns),
			100 * paths_listing_share(listing, row->insns, row->metric),
			class_name(row->class), loss->unfinished);
	report_text_procedure(out, procedure->name, csv);
	putc('\n', out);
}

static void print_procedures(FILE *out, struct paths_listing *listing,
			     const struct paths_report_options *options)
{
	struct class_sum sums[PATHS_CLASSES] = {0};
	size_t count = options->limit > 0 && options->limit < listing->procedure_count
			       ? options->limit
			       : listing->procedure_count;

	for (size_t i = 0; i < listing->procedure_count; i++) {
		const struct paths_procedure_row *row = &listing->procedures[i];

		sums[row->class].rows++;
		sums[row->class].insns += row->insns;
		sums[row->class].metric += row->metric;
	}
	if (options->csv)
		fputs("hot_paths,paths,possible,count,instructions,metric,class,unfinished,lost,"
		      "overflow,address,procedure\n",
		      out);
	else
		print_classes(out, listing, "procedures", sums);
	if (!options->csv)
		fprintf(out, "%5s %6s %10s %14s %14s %10s  %-6s %10s  %s\n", "hot", "paths",
			"possible", "count", "instructions",
			listing->metric ? listing->map->metric : "hotness", "class", "unfinished",
			"procedure");
	for (size_t i = 0; i < count; i++)
		print_procedure(out, listing, &listing->procedures[i], options->csv);
	if (!options->csv && count < listing->procedure_count)
		fprintf(out, "... %zu more\n", listing->procedure_count - count);
}

/* --- edges ---------------------------------------------------------------- */

void paths_report_edges(FILE *out, const struct paths_map *map)
{
	static const char *const kinds[] = {
		[PATH_ON] = "on", [PATH_CUT] = "cut", [PATH_END] = "end", [PATH_START] = "start"};

	fputs("procedure,kind,from,from_address,from_bytes,to,to_address\n", out);
	for (size_t p = 0; p < map->procedure_count; p++) {
		const struct paths_procedure *procedure = &map->procedures[p];
		const struct path_graph *graph = &procedure->graph;

		for (uint32_t w = 0; w < graph->path_edge_count; w++) {
			const struct path_edge *path_edge = &graph->path_edges[w];
			const struct counts_node *from = &procedure->nodes[path_edge->from];

			fprintf(out,
				"%" PRIx64 ",%s,%" PRIu32 ",%" PRIx64 ",%" PRIu64 ",%" PRId64
				",%" PRIx64 "\n",
				procedure->address, kinds[path_edge->kind], path_edge->from,
				from->address, from->bytes,
				path_edge->to == PATH_NONE ? -1 : (int64_t)path_edge->to,
				path_edge->to == PATH_NONE
					? 0
					: procedure->nodes[path_edge->to].address);
		}
		for (uint32_t i = 0; i < graph->start_count; i++)
			fprintf(out, "%" PRIx64 ",start,-1,0,0,%" PRIu32 ",%" PRIx64 "\n",
				procedure->address, graph->starts[i].node,
				procedure->nodes[graph->starts[i].node].address);
	}
}

static int print_listing(FILE *out, struct paths_listing *listing,
			 const struct paths_report_options *options)
{
	if (listing->path_count == 0)
		return 0;
	if (!options->csv)
		print_header(out, listing);
	if (options->rows == PATHS_PATHS)
		print_paths(out, listing, options);
	else
		print_procedures(out, listing, options);
	return 1;
}

static int paths_report_finish(FILE *out, int made, struct paths_listing *listing,
			       const struct paths_report_options *options, struct error *err)
{
	int r;

	if (made < 0)
		return error_set(err, -made,
				 made == -ENOMEM ? ERROR_NO_MEMORY : "damaged path graphs");
	r = print_listing(out, listing, options);
	paths_listing_deinit(listing);
	return r;
}

int paths_report_print(FILE *out, const struct paths_map *map, const struct paths_profile *profile,
		       const struct paths_report_options *options, struct error *err)
{
	struct paths_listing listing;

	if (options->rows == PATHS_EDGES) {
		paths_report_edges(out, map);
		return 1;
	}
	return paths_report_finish(out,
				   paths_listing_make(&listing, map, profile, options->threshold),
				   &listing, options, err);
}

int paths_report_print_recorded(FILE *out, const struct paths_recorded *recorded,
				const struct paths_report_options *options, struct error *err)
{
	struct paths_listing listing;

	return paths_report_finish(
		out, paths_listing_make_recorded(&listing, recorded, options->threshold), &listing,
		options, err);
}
