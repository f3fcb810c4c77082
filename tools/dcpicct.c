// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpicct - the calling context tree that dcpix --mode context recorded; manual:
 * docs/man/dcpicct.1.scd
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/image/image_code.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/options.h"
#include "tools/base/flame_graph.h"
#include "tools/base/text.h"
#include "tools/calls/call_report.h"
#include "tools/calls/call_source.h"
#include "tools/calls/context_listing.h"
#include "tools/calls/context_paths.h"
#include "tools/report/cli.h"
#include "tools/report/sandboxed.h"

#define FILES_MAX 65536
/* Minimum share of a hot path. */
#define THRESHOLD 0.01

enum {
	KEY_LEAST = 1001,
	KEY_FOLDED,
	KEY_SVG,
	KEY_PATHS,
};

static const struct option_entry own_options[] = {
	{KEY_LEAST, "least", "PERCENT", "omit contexts with a smaller share of the metric"},
	{KEY_FOLDED, "folded", NULL, "print folded stacks for flame graphs"},
	{KEY_SVG, "svg", NULL, "print a flame graph as SVG"},
	{KEY_PATHS, "paths", NULL, "list the paths that were executed in each context"},
};

struct cct {
	struct cli cli;
	double least;
	bool folded;
	bool svg;
	bool list_paths;
	struct call_source source;
	struct context_tree tree;
	struct call_names names;
	struct context_listing listing;
	struct context_paths paths;
};

static int dcpicct_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct cct *cct = context;

	if (key == KEY_LEAST)
		return cli_real(argument, "percentage", 0, 100, &cct->least, err);
	if (key == KEY_PATHS)
		cct->list_paths = true;
	cct->folded |= key == KEY_FOLDED;
	cct->svg |= key == KEY_SVG;
	return 0;
}

static const struct cli_tool tool = {
	.name = "dcpicct",
	.synopsis = "[OPTION]... [REWRITTEN FILE...]",
	.summary = "Print the calling context tree of a program that recorded it (dcpix --mode "
		   "context). The recording is read from files, or from the database if no file is "
		   "given.",
	.accepts = CLI_LIMIT | CLI_FORMATS | CLI_TABLE | CLI_NAMES | CLI_EPOCHS | CLI_IMAGES,
	.operands_max = FILES_MAX,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpicct_set_option,
};

static int check_options(const struct cct *cct, struct error *err)
{
	const struct cli *cli = &cct->cli;

	if (cct->list_paths && cli->operand_count == 0)
		return error_set(
			err, EINVAL,
			"--paths needs a rewritten program and the files that it recorded");
	if (cct->list_paths && (cli->format == CLI_JSON || cct->folded || cct->svg))
		return error_set(err, EINVAL, "--paths supports only text and --csv");
	return 0;
}

/* Read the paths of all contexts, if there are any or @list_paths requires them. */
static int read_paths(struct cct *cct, struct error *err)
{
	const struct call_map *map = &cct->source.recorded.map;
	const struct cli *cli = &cct->cli;
	int r;

	if (map->flow_at == 0 && !cct->list_paths)
		return 0;
	r = context_paths_read(&cct->paths, map, &cct->tree, &cct->names, cli->operands + 1,
			       cli->operand_count - 1, err);
	if (r == 0 && context_paths_single(&cct->paths, &cct->listing.single) < 0)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return r;
}

static int dcpicct_read_all(struct cct *cct, struct error *err)
{
	const struct call_map *map = &cct->source.recorded.map;
	int r = check_options(cct, err);

	if (r == 0)
		r = call_source_contexts(&cct->source, &cct->cli, &cct->tree, err);
	if (r < 0)
		return r;
	context_tree_sum(&cct->tree);
	if (call_names_make(&cct->names, map, cct->cli.demangle) < 0 ||
	    context_listing_make(&cct->listing, map, &cct->tree, &cct->names, cct->least) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return read_paths(cct, err);
}

static int print_paths(const struct cct *cct, struct error *err)
{
	const struct call_map *map = &cct->source.recorded.map;
	struct paths_report_options options = {
		.limit = cct->cli.limit,
		.threshold = THRESHOLD,
		.csv = cct->cli.format == CLI_CSV,
	};
	int r;

	if (!options.csv)
		options.code = image_code_open_same(map->path, map->build_id, NULL);
	r = context_paths_print(stdout, &cct->paths, options, err);
	image_code_close(options.code);
	return r;
}

static int print_stacks(const struct cct *cct)
{
	_cleanup_free_ char *title = text_clean(cct->source.recorded.map.path);
	const char *metric = call_recording_metric(cct->source.recorded.map.metric);
	struct flame_graph graph = {.title = title, .unit = *metric != '\0' ? metric : "calls"};
	int r = title == NULL ? -ENOMEM : context_listing_stacks(&cct->listing, &graph.tree);

	if (r < 0)
		return r;
	r = cct->svg ? flame_graph_write(stdout, &graph) : stack_tree_folded(stdout, &graph.tree);
	free((void *)(uintptr_t)graph.tree.nodes);
	return r;
}

static int dcpicct_print(const struct cct *cct)
{
	const struct context_listing *listing = &cct->listing;
	const struct cli *cli = &cct->cli;
	struct columns_table table = context_listing_table(listing, cli->limit);
	int r;

	if (cct->folded || cct->svg)
		return print_stacks(cct);
	if (cli->format == CLI_JSON)
		return call_report_print_json(context_listing_json(listing, cli->limit));
	if (cli->format == CLI_CSV)
		return columns_csv(stdout, &table);
	context_listing_heading(stdout, listing);
	r = columns_text(stdout, &table, cli->width, cli->color);
	if (table.row_count < listing->row_count)
		printf("... %zu more records\n", listing->row_count - table.row_count);
	return r;
}

static int dcpicct_run(struct cct *cct)
{
	struct error err;
	int r = dcpicct_read_all(cct, &err);

	if (r == -ENOENT && cct->source.recordings.reader != NULL)
		return cli_nothing(&cct->cli, "%s", err.message);
	if (r < 0)
		return cli_fail(&cct->cli, &err);
	if (cct->tree.count < 2)
		return cli_nothing(&cct->cli, "no call was recorded");
	if (cct->list_paths) {
		r = print_paths(cct, &err);
		if (r == 0)
			return cli_nothing(&cct->cli, "no path was recorded");
		return r > 0 && cli_finish_output(&err) == 0 ? CLI_OK : cli_fail(&cct->cli, &err);
	}
	if (dcpicct_print(cct) < 0)
		error_set(&err, ENOMEM, ERROR_NO_MEMORY);
	else if (cli_finish_output(&err) == 0)
		return CLI_OK;
	return cli_fail(&cct->cli, &err);
}

int main(int argc, char **argv)
{
	struct cct cct = {0};
	int status = cli_parse(&cct.cli, &tool, argc, argv, &cct);

	if (status == CLI_RUN)
		status = sandboxed_start(&cct.cli, NULL);
	if (status == CLI_RUN)
		status = dcpicct_run(&cct);
	context_paths_deinit(&cct.paths);
	context_listing_deinit(&cct.listing);
	call_names_deinit(&cct.names);
	context_tree_deinit(&cct.tree);
	call_source_close(&cct.source);
	cli_deinit(&cct.cli);
	return status;
}
