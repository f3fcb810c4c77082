// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/counts/counts_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "instrument/profile/report_text.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* A procedure's sums. */
struct row {
	const struct counts_procedure *procedure;
	uint64_t calls;
	uint64_t insns; /* executed */
};

struct report {
	const struct counts_map *map;
	uint64_t *nodes; /* counts of all nodes */
	uint64_t *edges;
	struct row *rows;
	size_t row_count;
	uint64_t insns;
};

static int solve_all(struct report *report, const struct counts_profile *profile)
{
	const struct counts_map *map = report->map;
	int r = 0;

	for (size_t p = 0; r == 0 && p < map->procedure_count; p++) {
		const struct counts_procedure *procedure = &map->procedures[p];
		uint64_t *nodes = report->nodes + procedure->first_node;
		uint64_t *edges = report->edges + procedure->first_edge;
		struct row row = {.procedure = procedure};

		r = counts_map_solve(map, procedure, profile->counters, nodes, edges);
		for (uint32_t n = 0; r == 0 && n < procedure->node_count; n++)
			row.insns += nodes[n] * map->nodes[procedure->first_node + n].insns;
		for (uint32_t e = 0; r == 0 && e < procedure->edge_count; e++) {
			if (map->edges[procedure->first_edge + e].kind == COUNT_ENTER)
				row.calls += edges[e];
		}
		report->insns += row.insns;
		if (row.insns > 0)
			report->rows[report->row_count++] = row;
	}
	return r;
}

static int by_insns(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->insns != y->insns)
		return x->insns < y->insns ? 1 : -1;
	return (x->procedure->address > y->procedure->address) -
	       (x->procedure->address < y->procedure->address);
}

static void print_procedures(FILE *out, const struct report *report,
			     const struct counts_report_options *options)
{
	size_t count = options->limit > 0 && options->limit < report->row_count ? options->limit
										: report->row_count;

	fputs(options->csv ? "instructions,calls,address,procedure\n"
			   : "    instructions      %         calls  procedure\n",
	      out);
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &report->rows[i];

		if (options->csv)
			fprintf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIx64 ",", row->insns, row->calls,
				row->procedure->address);
		else
			fprintf(out, "%16" PRIu64 " %5.1f%% %13" PRIu64 "  ", row->insns,
				100.0 * (double)row->insns / (double)report->insns, row->calls);
		report_text_procedure(out, row->procedure->name, options->csv);
		putc('\n', out);
	}
	if (!options->csv && count < report->row_count)
		fprintf(out, "... %zu more\n", report->row_count - count);
}

static void print_blocks(FILE *out, const struct report *report,
			 const struct counts_report_options *options)
{
	const struct counts_map *map = report->map;
	size_t printed = 0;

	fputs(options->csv ? "address,bytes,instructions,count\n"
			   : "     address  bytes  instructions             count\n",
	      out);
	for (size_t n = 0; n < map->node_count; n++) {
		const struct counts_node *node = &map->nodes[n];

		if (node->bytes == 0 || report->nodes[n] == 0)
			continue;
		if (options->limit > 0 && printed++ >= options->limit)
			break;
		fprintf(out,
			options->csv ? "%" PRIx64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu64 "\n"
				     : "%#12" PRIx64 "  %5" PRIu64 "  %12" PRIu32 "  %16" PRIu64
				       "\n",
			node->address, node->bytes, node->insns, report->nodes[n]);
	}
}

static void print_edges(FILE *out, const struct report *report,
			const struct counts_report_options *options)
{
	const struct counts_map *map = report->map;
	size_t printed = 0;

	fputs(options->csv ? "from,to,count\n" : "        from            to             count\n",
	      out);
	for (size_t e = 0; e < map->edge_count; e++) {
		const struct counts_edge *edge = &map->edges[e];

		if (edge->source == 0 || edge->target == 0 || report->edges[e] == 0)
			continue;
		if (options->limit > 0 && printed++ >= options->limit)
			break;
		fprintf(out,
			options->csv ? "%" PRIx64 ",%" PRIx64 ",%" PRIu64 "\n"
				     : "%#12" PRIx64 "  %#12" PRIx64 "  %16" PRIu64 "\n",
			edge->source, edge->target, report->edges[e]);
	}
}

static int counts_report_do_print(FILE *out, struct report *report,
				  const struct counts_profile *profile,
				  const struct counts_report_options *options, struct error *err)
{
	int r = solve_all(report, profile);

	if (r < 0)
		return error_set(err, -r, "damaged description of counters");
	if (report->row_count == 0)
		return 0;
	qsort(report->rows, report->row_count, sizeof(*report->rows), by_insns);
	switch (options->rows) {
	case COUNTS_PROCEDURES:
		print_procedures(out, report, options);
		break;
	case COUNTS_BLOCKS:
		print_blocks(out, report, options);
		break;
	case COUNTS_EDGES:
		print_edges(out, report, options);
		break;
	}
	return 1;
}

int counts_report_print(FILE *out, const struct counts_map *map,
			const struct counts_profile *profile,
			const struct counts_report_options *options, struct error *err)
{
	struct report report = {
		.map = map,
		.nodes = calloc(map->node_count + 1, sizeof(*report.nodes)),
		.edges = calloc(map->edge_count + 1, sizeof(*report.edges)),
		.rows = calloc(map->procedure_count + 1, sizeof(*report.rows)),
	};
	int r;

	if (report.nodes == NULL || report.edges == NULL || report.rows == NULL)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	else
		r = counts_report_do_print(out, &report, profile, options, err);
	free(report.nodes);
	free(report.edges);
	free(report.rows);
	return r;
}
