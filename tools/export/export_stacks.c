// SPDX-License-Identifier: GPL-2.0-only
#include "tools/export/export_stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/export/export_contexts.h"
#include "tools/export/exporter.h"
#include "tools/report/output_file.h"
#include "tools/report/report_header.h"
#include "tools/stacks/stack_profile.h"

/* State of the export. */
struct stack_export {
	const struct exporter *exporter;
	struct profile_reader *reader;
	struct report_header header;
	struct stack_profile profile;
	struct stack_node *nodes;
	struct export_context *contexts;
	struct export_procedure *procedures;
	struct export_contexts what;
	char comment[96];
};

static void export_stacks_fill(struct stack_export *export)
{
	const struct stack_profile *profile = &export->profile;
	const struct report_header *header = &export->header;
	bool is_off_cpu = profile->mode == PROFILE_RECORDING_OFF_CPU;
	/* The part of the comment that is not in the title. */
	const char *start = is_off_cpu ? "dcpi: " : "dcpi: sampled ";
	const char *what = is_off_cpu ? "off-CPU time" : "call stacks";

	for (size_t i = 0; i < profile->node_count; i++) {
		const struct stack_profile_node *node = &profile->nodes[i];

		export->nodes[i] = (struct stack_node){
			.name = i > 0 ? profile->procedures[node->procedure].name : "",
			.parent = node->parent,
			.value = node->self,
		};
		export->contexts[i] = (struct export_context){
			node->procedure, is_off_cpu ? node->stacks : node->self};
	}
	for (size_t i = 0; i < profile->procedure_count; i++)
		export->procedures[i] = (struct export_procedure){profile->procedures[i].name,
								  profile->procedures[i].address};
	snprintf(export->comment, sizeof(export->comment), "%s%s", start, what);
	if (profile->excluded > 0)
		snprintf(export->comment, sizeof(export->comment),
			 "%s%s; %" PRIu64 " of the profiler are excluded", start, what,
			 profile->excluded);
	export->what = (struct export_contexts){
		.image = what,
		.build_id = "",
		.title = export->comment + strlen(start),
		.metric = is_off_cpu ? STACK_PROFILE_OFF_CPU : "samples",
		.unit = is_off_cpu ? "nanoseconds" : NULL,
		.counted = is_off_cpu ? "intervals" : NULL,
		.stacks = {export->nodes, profile->node_count},
		.contexts = export->contexts,
		.procedures = export->procedures,
		.procedure_count = profile->procedure_count,
		.start_ns = header->epochs[0].start_ns,
		.end_ns = header->epochs[header->epoch_count - 1].end_ns,
		.comment = export->comment,
	};
}

static int export_stacks_make(struct stack_export *export, struct cli *cli, struct error *err)
{
	enum profile_recording_mode mode = PROFILE_RECORDING_STACKS;
	int r = stack_profile_choose(&mode, cli, err);

	if (r == 0)
		r = cli_open(cli, &export->reader, err);
	if (r == 0)
		r = report_header_load(&export->header, export->reader, &cli->filter, err);
	if (r == 0 && export->header.epoch_count == 0)
		r = cli_no_epoch(cli, export->reader, err);
	if (r == 0)
		r = stack_profile_load(&export->profile, export->reader, cli, mode, err);
	if (r == 0 && export->profile.stacks == 0 && export->profile.excluded > 0)
		r = error_set(err, ENOENT,
			      "all call stacks are of the profiler: use --include-profiler to "
			      "export them");
	if (r < 0)
		return r;
	export->nodes = calloc(export->profile.node_count + 1, sizeof(*export->nodes));
	export->contexts = calloc(export->profile.node_count + 1, sizeof(*export->contexts));
	export->procedures =
		calloc(export->profile.procedure_count + 1, sizeof(*export->procedures));
	if (export->nodes == NULL || export->contexts == NULL || export->procedures == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	export_stacks_fill(export);
	return 0;
}

static int export_stacks_write(void *context, FILE *file, struct error *err)
{
	struct stack_export *export = context;

	return export->exporter->write_contexts(file, &export->what, err);
}

int export_stacks(struct cli *cli, const struct exporter *exporter, const char *output)
{
	struct stack_export export = {.exporter = exporter};
	struct error err;
	int status = CLI_OK, r = export_stacks_make(&export, cli, &err);

	if (r == -ENOENT && export.reader != NULL)
		status = cli_nothing(cli, "%s", err.message);
	else if (r < 0 || output_file_write(output, export_stacks_write, &export, &err) < 0)
		status = cli_fail(cli, &err);
	free(export.nodes);
	free(export.contexts);
	free(export.procedures);
	stack_profile_deinit(&export.profile);
	report_header_deinit(&export.header);
	profile_reader_close(export.reader);
	return status;
}
