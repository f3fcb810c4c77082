// SPDX-License-Identifier: GPL-2.0-only
#include "tools/export/export_variation.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/image/demangle.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/text.h"
#include "tools/export/export_contexts.h"
#include "tools/export/exporter.h"
#include "tools/report/output_file.h"
#include "tools/variation/variation_source.h"

/*
 * State of the export. The nodes are the root, then procedures, then paths. Each node but the root
 * has a separate procedure of the export, with the number of the node.
 */
struct variation_export {
	const struct exporter *exporter;
	struct variation_source source;
	struct variation_listing listing;
	size_t count;
	char **names;
	struct stack_node *nodes;
	struct export_context *contexts;
	struct export_procedure *procedures;
	struct export_contexts what;
};

static char *procedure_name(const struct paths_procedure *procedure, bool demangled)
{
	_cleanup_free_ char *readable = demangled ? demangle(procedure->name) : NULL;

	return text_clean(readable != NULL ? readable : procedure->name);
}

static char *path_name(const struct variation_export *export, const struct variation_row *row)
{
	char *name;

	if (asprintf(&name, "%s, path %" PRIu32, export->names[row->times->procedure + 1],
		     row->times->number + 1) < 0)
		return NULL;
	return name;
}

static uint64_t path_address(const struct variation_row *row)
{
	return row->path->node_count > 0 ? row->path->nodes[0]->address : row->procedure;
}

/* Append a node. @name: ownership is taken; NULL: out of memory. */
static bool export_variation_add(struct variation_export *export, char *name, uint64_t address,
				 size_t parent)
{
	size_t i = export->count++;

	export->names[i] = name;
	export->nodes[i] = (struct stack_node){.name = name, .parent = (uint32_t)parent};
	export->contexts[i] = (struct export_context){.procedure = (uint32_t)i};
	export->procedures[i] = (struct export_procedure){name, address};
	return name != NULL;
}

static bool add_all(struct variation_export *export, bool demangled)
{
	const struct paths_map *map = export->listing.map;
	bool good = export_variation_add(export, text_clean("<all>"), 0, 0);

	for (size_t p = 0; good && p < map->procedure_count; p++)
		good = export_variation_add(export, procedure_name(&map->procedures[p], demangled),
					    map->procedures[p].address, 0);
	for (size_t i = 0; good && i < export->listing.row_count; i++) {
		const struct variation_row *row = &export->listing.rows[i];
		size_t procedure = (size_t)row->times->procedure + 1;

		good = export_variation_add(export, path_name(export, row), path_address(row),
					    procedure);
		export->nodes[export->count - 1].value = row->net;
		export->contexts[export->count - 1].calls = row->times->count;
	}
	return good;
}

static int export_variation_fill(struct variation_export *export, bool demangled, struct error *err)
{
	size_t count = 1 + export->listing.map->procedure_count + export->listing.row_count;

	export->names = calloc(count, sizeof(*export->names));
	export->nodes = calloc(count, sizeof(*export->nodes));
	export->contexts = calloc(count, sizeof(*export->contexts));
	export->procedures = calloc(count, sizeof(*export->procedures));
	if (export->names == NULL || export->nodes == NULL || export->contexts == NULL ||
	    export->procedures == NULL || !add_all(export, demangled))
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	export->what = (struct export_contexts){
		.image = export->source.recordings.path,
		.build_id = export->source.recordings.build_id,
		.metric = "variation",
		.stacks = {export->nodes, export->count},
		.contexts = export->contexts,
		.procedures = export->procedures,
		.procedure_count = export->count,
		.start_ns = export->source.recordings.start_ns,
		.end_ns = export->source.recordings.end_ns,
		.comment = "dcpix --mode variation",
	};
	return 0;
}

static int write_variation(void *context, FILE *file, struct error *err)
{
	struct variation_export *export = context;

	return export->exporter->write_contexts(file, &export->what, err);
}

static void deinit(struct variation_export *export)
{
	for (size_t i = 0; i < export->count; i++)
		free(export->names[i]);
	free(export->names);
	free(export->nodes);
	free(export->contexts);
	free(export->procedures);
	variation_listing_deinit(&export->listing);
	variation_source_close(&export->source);
}

int export_variation(struct cli *cli, const struct exporter *exporter, const char *output)
{
	struct variation_export export = {.exporter = exporter};
	struct error err;
	int status = CLI_OK;
	int r = variation_source_read(&export.source, cli, false, &export.listing, &err);

	if (r == -ENOENT && export.source.recordings.reader != NULL)
		status = cli_nothing(cli, "%s", err.message);
	else if (r == 0 && export.listing.row_count == 0)
		status = cli_nothing(cli, "no path was timed twice");
	else if (r < 0 || export_variation_fill(&export, cli->demangle, &err) < 0 ||
		 output_file_write(output, write_variation, &export, &err) < 0)
		status = cli_fail(cli, &err);
	deinit(&export);
	return status;
}
