// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpicalls - call graph with costs, as dcpix --mode calls recorded it; manual:
 * docs/man/dcpicalls.1.scd
 */
#include <errno.h>
#include <string.h>

#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "lib/options.h"
#include "tools/calls/call_listing.h"
#include "tools/calls/call_report.h"
#include "tools/calls/call_source.h"
#include "tools/report/cli.h"
#include "tools/report/sandboxed.h"

#define KEY_BY 1001
#define FILES_MAX 65536

enum calls_rows {
	CALLS_GRAPH,
	CALLS_PROCEDURES,
	CALLS_ARCS,
};

static const struct option_entry own_options[] = {
	{KEY_BY, "by", "WHAT", "print a table of procedures or arcs instead of a graph"},
};

struct calls {
	struct cli cli;
	enum calls_rows rows;
	struct call_source source;
	struct call_profile profile;
	struct call_names names;
	struct call_listing listing;
};

static int dcpicalls_set_option(void *context, int key, const char *argument, struct error *err)
{
	static const char *const names[] = {"graph", "procedure", "arc"};
	struct calls *calls = context;

	(void)key;
	if (strcmp(argument, "procedure") == 0)
		calls->rows = CALLS_PROCEDURES;
	else if (strcmp(argument, "arc") == 0)
		calls->rows = CALLS_ARCS;
	else if (strcmp(argument, "graph") == 0)
		calls->rows = CALLS_GRAPH;
	else
		return near_names_unknown(err, "kind of row", argument, names,
					  sizeof(names) / sizeof(*names));
	return 0;
}

static const struct cli_tool tool = {
	.name = "dcpicalls",
	.synopsis = "[OPTION]... [REWRITTEN FILE...]",
	.summary = "Print callers, callees and the costs of calls of a program that recorded them "
		   "(dcpix --mode calls). The recording is read from files, or from the database "
		   "if no file is given.",
	.accepts = CLI_LIMIT | CLI_FORMATS | CLI_TABLE | CLI_NAMES | CLI_EPOCHS | CLI_IMAGES,
	.operands_max = FILES_MAX,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpicalls_set_option,
};

static int dcpicalls_read_all(struct calls *calls, struct error *err)
{
	const struct call_map *map = &calls->source.recorded.map;
	int r = call_source_calls(&calls->source, &calls->cli, &calls->profile, err);

	if (r < 0)
		return r;
	if (call_names_make(&calls->names, map, calls->cli.demangle) < 0 ||
	    call_listing_make(&calls->listing, map, &calls->profile, &calls->names) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return 0;
}

static int dcpicalls_print(const struct calls *calls)
{
	const struct call_listing *listing = &calls->listing;
	const struct cli *cli = &calls->cli;
	struct columns_table table = calls->rows == CALLS_PROCEDURES
					     ? call_listing_procedures(listing, cli->limit)
					     : call_listing_arcs(listing, cli->limit);

	if (cli->format == CLI_JSON)
		return call_report_print_json(call_listing_json(listing, cli->limit));
	if (cli->format == CLI_CSV)
		return columns_csv(stdout, &table);
	call_listing_heading(stdout, listing);
	if (calls->rows == CALLS_GRAPH)
		return call_listing_graph(stdout, listing, cli->limit);
	return columns_text(stdout, &table, cli->width, cli->color);
}

static int dcpicalls_run(struct calls *calls)
{
	struct error err;
	int r = dcpicalls_read_all(calls, &err);

	if (r == -ENOENT && calls->source.recordings.reader != NULL)
		return cli_nothing(&calls->cli, "%s", err.message);
	if (r < 0)
		return cli_fail(&calls->cli, &err);
	if (calls->listing.procedure_count == 0)
		return cli_nothing(&calls->cli, "no call was recorded");
	if (dcpicalls_print(calls) < 0)
		error_set(&err, ENOMEM, ERROR_NO_MEMORY);
	else if (cli_finish_output(&err) == 0)
		return CLI_OK;
	return cli_fail(&calls->cli, &err);
}

int main(int argc, char **argv)
{
	struct calls calls = {0};
	int status = cli_parse(&calls.cli, &tool, argc, argv, &calls);

	if (status == CLI_RUN)
		status = sandboxed_start(&calls.cli, NULL);
	if (status == CLI_RUN)
		status = dcpicalls_run(&calls);
	call_listing_deinit(&calls.listing);
	call_names_deinit(&calls.names);
	call_profile_deinit(&calls.profile);
	call_source_close(&calls.source);
	cli_deinit(&calls.cli);
	return status;
}
