// SPDX-License-Identifier: GPL-2.0-only
#include "tools/export/export_flow.h"

#include <errno.h>

#include "lib/error.h"
#include "tools/annotate/calc_driver.h"
#include "tools/export/execution_profile.h"
#include "tools/export/exporter.h"
#include "tools/report/output_file.h"

/* @images: number of images found so far */
struct flow_export {
	const struct exporter *exporter;
	struct execution_profile flow;
	size_t images;
};

static int take_image(void *context, const struct calc_choice *choice,
		      const struct machine_model *model)
{
	struct flow_export *export = context;

	(void)model;
	export->images++;
	export->flow.code = choice->code;
	return 0;
}

static int export_flow_take_procedure(void *context, const struct procedure_analysis *analysis)
{
	struct flow_export *export = context;

	/* Only the first image is added, because the addresses of different images overlap. */
	return export->images > 1 ? 0 : execution_profile_add(&export->flow, analysis);
}

static int write_flow(void *context, FILE *file, struct error *err)
{
	struct flow_export *export = context;

	return export->exporter->write_flow(file, &export->flow, err);
}

static int write_image(struct flow_export *export, struct cli *cli, const char *output)
{
	struct error err = {0};

	if (export->images > 1) {
		error_set(&err, EINVAL,
			  "%zu images match, but %s needs one: select it with --image",
			  export->images, export->exporter->name);
		return cli_fail(cli, &err);
	}
	if (export->flow.block_count == 0)
		return cli_nothing(cli, "no executions are known");
	return output_file_write(output, write_flow, export, &err) < 0 ? cli_fail(cli, &err)
								       : CLI_OK;
}

int export_flow(struct cli *cli, const struct exporter *exporter, const char *output)
{
	struct flow_export export = {.exporter = exporter};
	struct calc_source source = {0};
	struct profile_reader *reader = NULL;
	struct calc_driver walk = {
		.cli = cli,
		.source = &source,
		.image = take_image,
		.procedure = export_flow_take_procedure,
		.context = &export,
		.progress = true,
		.doubtful = true,
	};
	struct error err = {0};
	int status, r;

	if (cli->image == NULL) {
		error_set(&err, EINVAL, "%s needs one program: select it with --image",
			  exporter->name);
		return cli_fail(cli, &err);
	}
	r = calc_source_open(&source, &reader, cli, cli->event_count > 0 ? cli->events[0] : NULL,
			     &err);
	source.select.counts = true; /* exact counts, if available */
	source.select.files = true;
	if (r == -ENOENT && reader != NULL)
		status = cli_nothing(cli, "%s", err.message);
	else
		status = r < 0 ? cli_fail(cli, &err) : calc_driver_run(&walk);
	if (status == CLI_OK)
		status = write_image(&export, cli, output);
	execution_profile_deinit(&export.flow);
	calc_source_deinit(&source);
	profile_reader_close(reader);
	return status;
}
