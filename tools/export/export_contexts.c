// SPDX-License-Identifier: GPL-2.0-only
#include "tools/export/export_contexts.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/calls/call_names.h"
#include "tools/calls/call_source.h"
#include "tools/export/exporter.h"
#include "tools/report/output_file.h"

/* State of the export. */
struct context_export {
	const struct exporter *exporter;
	struct call_source source;
	struct context_tree tree;
	struct call_names names;
	struct stack_node *nodes;
	struct export_context *contexts;
	struct export_procedure *procedures;
	struct export_contexts what;
};

/* Fill in the tree. If no metric was recorded, the values are calls. */
static void export_contexts_fill(struct context_export *export)
{
	const struct call_map *map = &export->source.recorded.map;
	const struct context_tree *tree = &export->tree;
	bool measured = tree->metric != CALL_METRIC_NONE;

	for (size_t i = 0; i < tree->count; i++) {
		const struct context_record *record = &tree->records[i];
		uint64_t calls = record->calls + record->recursive;

		export->nodes[i] = (struct stack_node){
			.name = export->names.names[record->procedure],
			.parent = record->parent,
			.value = measured ? record->exclusive : calls,
		};
		export->contexts[i] = (struct export_context){record->procedure, calls};
	}
	for (size_t i = 0; i < export->names.count; i++)
		export->procedures[i] = (struct export_procedure){
			export->names.names[i],
			i < map->procedure_count ? map->procedures[i].address : 0};
	export->what = (struct export_contexts){
		.image = export->source.recordings.path,
		.build_id = export->source.recordings.build_id,
		.metric = measured ? call_recording_metric(tree->metric) : "calls",
		.stacks = {export->nodes, tree->count},
		.contexts = export->contexts,
		.procedures = export->procedures,
		.procedure_count = export->names.count,
		.start_ns = export->source.recordings.start_ns,
		.end_ns = export->source.recordings.end_ns,
		.comment = "dcpix --mode context",
	};
}

static int export_contexts_make(struct context_export *export, struct cli *cli, struct error *err)
{
	int r = call_source_contexts(&export->source, cli, &export->tree, err);

	if (r < 0)
		return r;
	if (call_names_make(&export->names, &export->source.recorded.map, cli->demangle) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	export->nodes = calloc(export->tree.count, sizeof(*export->nodes));
	export->contexts = calloc(export->tree.count, sizeof(*export->contexts));
	export->procedures = calloc(export->names.count, sizeof(*export->procedures));
	if (export->nodes == NULL || export->contexts == NULL || export->procedures == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	export_contexts_fill(export);
	return 0;
}

static int export_contexts_write_contexts(void *context, FILE *file, struct error *err)
{
	struct context_export *export = context;

	return export->exporter->write_contexts(file, &export->what, err);
}

int export_contexts(struct cli *cli, const struct exporter *exporter, const char *output)
{
	struct context_export export = {.exporter = exporter};
	struct error err;
	int status = CLI_OK, r = export_contexts_make(&export, cli, &err);

	if (r == -ENOENT && export.source.recordings.reader != NULL)
		status = cli_nothing(cli, "%s", err.message);
	else if (r < 0 ||
		 output_file_write(output, export_contexts_write_contexts, &export, &err) < 0)
		status = cli_fail(cli, &err);
	free(export.nodes);
	free(export.contexts);
	free(export.procedures);
	call_names_deinit(&export.names);
	context_tree_deinit(&export.tree);
	call_source_close(&export.source);
	return status;
}
