// SPDX-License-Identifier: GPL-2.0-only
/*
 * dcpiprof - samples by image, procedure, source line or owner, and edges (DCPI section 3.1, figure
 * 1)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "lib/options.h"
#include "tools/report/cli.h"
#include "tools/report/event_choice.h"
#include "tools/report/event_scale.h"
#include "tools/report/report.h"
#include "tools/report/report_header.h"
#include "tools/report/sandboxed.h"
#include "tools/stacks/stack_listing.h"
#include "tools/stacks/thread_listing.h"
#include "tools/stats/diff_report.h"
#include "tools/tally/data_listing.h"
#include "tools/tally/edge_listing.h"
#include "tools/tally/owner_listing.h"
#include "tools/tally/sample_listing.h"

/* Values of --by: those of a tally, BY_EDGE, those of an owner_tally, BY_THREAD and BY_DATA. */
enum by {
	BY_PROCEDURE = TALLY_BY_PROCEDURE,
	BY_IMAGE = TALLY_BY_IMAGE,
	BY_INSTRUCTION = TALLY_BY_INSTRUCTION,
	BY_LINE = TALLY_BY_LINE,
	BY_FILE = TALLY_BY_FILE,
	BY_EDGE = TALLY_BY_NR,
	BY_UNIT,
	BY_CONTAINER,
	BY_PROCESS,
	BY_COMMAND,
	BY_HOST,
	BY_EPOCH,
	BY_THREAD,
	BY_DATA,
	BY_NR,
	BY_UNSET,
};

static const char *const by_names[BY_NR] = {
	[BY_PROCEDURE] = "procedure",
	[BY_IMAGE] = "image",
	[BY_INSTRUCTION] = "instruction",
	[BY_LINE] = "line",
	[BY_FILE] = "file",
	[BY_EDGE] = "edge",
	[BY_UNIT] = "unit",
	[BY_CONTAINER] = "container",
	[BY_PROCESS] = "process",
	[BY_COMMAND] = "command",
	[BY_HOST] = "host",
	[BY_EPOCH] = "epoch",
	[BY_THREAD] = "thread",
	[BY_DATA] = "data",
};

enum {
	KEY_BY = 1001,
	KEY_RAW,
	KEY_DIFF,
	KEY_INLINE,
	KEY_INCLUSIVE,
	KEY_CALLERS,
	KEY_CALLEES,
	KEY_TREE,
};

static const struct option_entry own_options[] = {
	{KEY_BY, "by", "WHAT",
	 "list by procedure, image, instruction, line, file, edge, data, unit, host, ..."},
	{KEY_INCLUSIVE, "inclusive", NULL,
	 "list procedures including their callees, from call stacks"},
	{KEY_CALLERS, "callers", "PROCEDURE", "list the callers of a procedure, from call stacks"},
	{KEY_CALLEES, "callees", "PROCEDURE", "list the callees of a procedure, from call stacks"},
	{KEY_TREE, "tree", NULL, "print a tree of calls, from call stacks"},
	{KEY_INLINE, "inline", NULL, "list inlined functions as callees, in call stacks"},
	{KEY_RAW, "raw", NULL, "print samples without scaling for multiplexing and periods"},
	{KEY_DIFF, "diff", NULL, "compare two sets, as dcpidiff does"},
};

/* struct prof - options, and the state of the report */
struct prof {
	struct cli cli;
	enum by by;
	bool raw;
	bool diff;
	bool stacks;
	enum profile_recording_mode mode;
	enum stack_view view;
	const char *procedure;
	struct profile_reader *reader;
	struct report_header header;
	struct event_scale scale;
	struct event_choice events;
	struct tally *tally;
	struct sample_listing *samples;
	struct edge_tally *edges;
	struct owner_tally *owners;
	struct owner_listing *owner_lines;
	struct diff_report difference;
	struct stack_profile stack_profile;
	struct stack_listing stack_lines;
	struct thread_listing threads;
	struct data_listing data;
};

static bool dcpiprof_set_view(struct prof *prof, int key, const char *argument)
{
	if (key < KEY_INCLUSIVE)
		return false;
	prof->stacks = true;
	prof->view = (enum stack_view)(key - KEY_INCLUSIVE);
	prof->procedure = argument;
	return true;
}

static int dcpiprof_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct prof *prof = context;

	if (key == KEY_RAW || key == KEY_DIFF) {
		*(key == KEY_RAW ? &prof->raw : &prof->diff) = true;
		if (key == KEY_DIFF)
			prof->cli.fetch_by = by_names[BY_HOST];
		return 0;
	}
	if (key == KEY_INLINE) {
		prof->cli.inlines = true;
		return 0;
	}
	if (dcpiprof_set_view(prof, key, argument))
		return 0;
	for (enum by by = 0; by < BY_NR; by++) {
		if (strcmp(argument, by_names[by]) == 0) {
			prof->by = by;
			if (by == BY_HOST || by == BY_EPOCH)
				prof->cli.fetch_by = argument;
			return 0;
		}
	}
	return near_names_unknown(err, "kind of row", argument, by_names, BY_NR);
}

static const struct cli_tool tool = {
	.name = "dcpiprof",
	.synopsis = "[OPTION]... [--diff [SET SET]]",
	.summary = "List the samples or edges of a profile database, by procedure or as selected "
		   "by --by.",
	.accepts = CLI_HEADER | CLI_EVENTS | CLI_BY_IMAGE | CLI_IMAGES | CLI_PID | CLI_EPOCHS |
		   CLI_LIMIT | CLI_SORT | CLI_FORMATS | CLI_TABLE | CLI_SYMBOLS | CLI_DATABASES |
		   CLI_PROFILER | CLI_IDLE | CLI_FROM,
	.operands_max = 2,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpiprof_set_option,
};

/* Check the options of --diff. */
static int check_diff(const struct prof *prof, struct error *err)
{
	if (prof->by >= BY_EDGE)
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--diff", "--by %s"),
				 by_names[prof->by]);
	if (prof->raw)
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--diff", "--raw"));
	return 0;
}

static bool needs_owners(const struct prof *prof)
{
	const struct profile_filter *filter = &prof->cli.filter;

	return filter->has_pid || filter->unit != NULL || filter->container != NULL;
}

/* Return true if the rows are threads, or processes or commands with the values of their threads.
 */
static bool is_of_threads(const struct prof *prof)
{
	return prof->by == BY_THREAD || (prof->mode == PROFILE_RECORDING_OFF_CPU &&
					 (prof->by == BY_PROCESS || prof->by == BY_COMMAND));
}

/* Check options that depend on each other. */
static int dcpiprof_check_options(struct prof *prof, struct error *err)
{
	int r;

	if (prof->cli.by_image && prof->by != BY_UNSET && prof->by != BY_IMAGE)
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--by-image", "--by %s"),
				 by_names[prof->by]);
	if (prof->by == BY_UNSET)
		prof->by = prof->cli.by_image ? BY_IMAGE : BY_PROCEDURE;
	if (prof->by == BY_EDGE && (prof->cli.event_count > 0 || needs_owners(prof)))
		return error_set(err, EINVAL, "edges are not stored by event, process or unit");
	if (prof->by == BY_DATA && (prof->cli.event_count > 0 || prof->raw || needs_owners(prof)))
		return error_set(err, EINVAL,
				 "data is not stored by event, process or unit, nor with --raw");
	if ((prof->by == BY_UNIT || prof->by == BY_CONTAINER) && needs_owners(prof))
		return error_set(
			err, EINVAL,
			"units and containers are not stored by process, unit or container");
	if (prof->cli.inlines && !prof->stacks)
		return error_set(err, EINVAL,
				 "--inline needs --inclusive, --callers, --callees or --tree");
	r = stack_profile_choose(&prof->mode, &prof->cli, err);
	if (r < 0)
		return r;
	/* Off-CPU time has no samples. */
	if (prof->mode == PROFILE_RECORDING_OFF_CPU && !prof->stacks && !is_of_threads(prof)) {
		prof->stacks = true;
		prof->view = STACK_VIEW_INCLUSIVE;
	}
	if (is_of_threads(prof) && !prof->stacks &&
	    (prof->diff || prof->raw || prof->cli.image != NULL || needs_owners(prof)))
		return error_set(err, EINVAL,
				 "threads cannot be listed with --diff, --raw, --image, --pid or "
				 "--unit");
	if (prof->stacks && (prof->by != BY_PROCEDURE || prof->diff || prof->raw ||
			     prof->cli.image != NULL || needs_owners(prof)))
		return error_set(err, EINVAL,
				 "call stacks cannot be listed with --by, --diff, --raw, --image, "
				 "--pid or --unit");
	if (!prof->diff && prof->cli.operand_count > 0)
		return error_set(err, EINVAL, ERROR_UNEXPECTED_ARGUMENT("dcpiprof"),
				 prof->cli.operands[0]);
	return prof->diff ? check_diff(prof, err) : 0;
}

static int load_header(struct prof *prof, struct error *err)
{
	int r = cli_open(&prof->cli, &prof->reader, err);

	if (r == 0)
		r = report_header_load(&prof->header, prof->reader, &prof->cli.filter, err);
	prof->header.scaled = !prof->raw && prof->by != BY_EDGE;
	if (r == 0 && prof->header.scaled)
		r = event_scale_load_header(&prof->scale, prof->reader, &prof->header, err);
	return r;
}

/* Load a tally for every kind of listing, because the header's numbers of samples come from it. */
static int load_tally(struct prof *prof, struct error *err)
{
	static const struct included_samples all = {.profiler = true, .idle = true};
	struct tally_config config = {
		.events = prof->events.names,
		.event_count = prof->events.count,
		.filter = prof->cli.filter,
		.image = prof->cli.image,
		.by = prof->by >= BY_EDGE ? TALLY_BY_IMAGE : (enum tally_by)prof->by,
		.scale = &prof->scale,
		.demangle = prof->cli.demangle,
		.debug = prof->cli.debug,
		.include = prof->by >= BY_EDGE ? all : prof->cli.include,
		.tool = prof->cli.tool,
	};
	int r = tally_create(&prof->tally, prof->reader, &config, err);

	if (r == 0)
		tally_describe(prof->tally, &prof->header);
	return r;
}

static int load_samples(struct prof *prof, struct error *err)
{
	struct sample_listing_config config = {
		.by = (enum tally_by)prof->by,
		.sort = prof->cli.sort,
		.limit = prof->cli.limit,
	};
	int r = event_choice_make(&prof->events, &prof->header, &prof->cli, err);

	if (r == 0)
		r = load_tally(prof, err);
	if (r < 0)
		return r;
	config.tally = prof->tally;
	config.events = prof->events.names;
	config.event_count = prof->events.count;
	return sample_listing_create(&prof->samples, &config, err);
}

static int load_edges(struct prof *prof, struct error *err)
{
	struct edge_tally_config config = {
		.filter = prof->cli.filter,
		.image = prof->cli.image,
		.limit = prof->cli.limit,
		.demangle = prof->cli.demangle,
		.debug = prof->cli.debug,
	};
	int r = edge_listing_order(&config.order, prof->cli.sort, err);

	if (r == 0)
		r = load_tally(prof, err);
	if (r == 0)
		r = edge_tally_create(&prof->edges, prof->reader, &config, err);
	if (r < 0)
		return r;
	prof->header.has_edges = true;
	for (int kind = 0; kind < PROFILE_EDGE_KINDS; kind++)
		prof->header.edges += edge_tally_total(prof->edges, (enum profile_edge_kind)kind);
	return 0;
}

static void add_excluded(struct prof *prof, size_t event)
{
	prof->header.excluded += owner_tally_excluded(prof->owners, PROFILER_WHOLE, event)->samples;
	prof->header.idle += owner_tally_excluded(prof->owners, PROFILER_IDLE, event)->samples;
}

static int load_owners(struct prof *prof, struct error *err)
{
	struct owner_tally_config config = {
		.by = (enum owner_by)(prof->by - BY_UNIT),
		.filter = prof->cli.filter,
		.image = prof->cli.image,
		.scale = &prof->scale,
		.include = prof->cli.include,
		.debug = prof->cli.debug,
	};
	int r = event_choice_make(&prof->events, &prof->header, &prof->cli, err);

	if (r == 0)
		r = load_tally(prof, err);
	config.events = prof->events.names;
	config.event_count = prof->events.count;
	if (r == 0)
		r = owner_tally_create(&prof->owners, prof->reader, &config, err);
	for (size_t i = 0; r == 0 && i < config.event_count; i++)
		add_excluded(prof, i);
	if (r == 0)
		r = owner_listing_create(&prof->owner_lines, prof->owners, &config, prof->cli.sort,
					 prof->cli.limit, err);
	return r;
}

static int load_stacks(struct prof *prof, struct error *err)
{
	struct cli all = prof->cli;
	int r;

	if (prof->mode == PROFILE_RECORDING_OFF_CPU)
		all.event_count = 0;
	r = event_choice_make(&prof->events, &prof->header, &all, err);
	if (r == 0)
		r = load_tally(prof, err);
	if (r == 0)
		r = stack_profile_load(&prof->stack_profile, prof->reader, &prof->cli, prof->mode,
				       err);
	prof->header.excluded = prof->header.idle = 0; /* the rows are of stacks */
	prof->header.excluded_stacks = prof->stack_profile.excluded;
	prof->header.stacks = prof->stack_profile.stacks + prof->stack_profile.excluded;
	if (r == 0)
		r = stack_listing_make(&prof->stack_lines, &prof->stack_profile, prof->view,
				       prof->procedure, prof->cli.limit, err);
	return r;
}

static int load_threads(struct prof *prof, struct error *err)
{
	struct cli all = prof->cli;
	int r;

	all.event_count = 0;
	r = event_choice_make(&prof->events, &prof->header, &all, err);
	if (r == 0)
		r = load_tally(prof, err);
	prof->header.excluded = 0; /* the rows are of stacks */
	prof->threads.by = prof->by == BY_THREAD    ? THREAD_BY_THREAD
			   : prof->by == BY_PROCESS ? THREAD_BY_PROCESS
						    : THREAD_BY_COMMAND;
	prof->threads.is_off_cpu = prof->mode == PROFILE_RECORDING_OFF_CPU;
	return r == 0 ? thread_listing_make(&prof->threads, prof->reader, &prof->cli, err) : r;
}

static int load_data(struct prof *prof, struct error *err)
{
	int r = event_choice_make(&prof->events, &prof->header, &prof->cli, err);

	if (r == 0)
		r = load_tally(prof, err);
	return r == 0 ? data_listing_make(&prof->data, prof->reader, &prof->cli, err) : r;
}

static int dcpiprof_load(struct prof *prof, struct error *err)
{
	if (prof->by == BY_DATA)
		return load_data(prof, err);
	if (is_of_threads(prof))
		return load_threads(prof, err);
	if (prof->stacks)
		return load_stacks(prof, err);
	if (prof->by >= BY_UNIT)
		return load_owners(prof, err);
	return prof->by == BY_EDGE ? load_edges(prof, err) : load_samples(prof, err);
}

static struct report report_of(struct prof *prof, struct edge_listing *edges)
{
	if (prof->by == BY_DATA)
		return data_listing_report(&prof->data);
	if (is_of_threads(prof))
		return thread_listing_report(&prof->threads);
	if (prof->stacks)
		return stack_listing_report(&prof->stack_lines);
	if (prof->by >= BY_UNIT)
		return owner_listing_report(prof->owner_lines);
	return prof->by == BY_EDGE ? edge_listing_report(edges, prof->edges)
				   : sample_listing_report(prof->samples);
}

static int nothing(const struct prof *prof)
{
	bool edges = prof->by == BY_EDGE;
	bool own = prof->header.excluded > 0 && !needs_owners(prof);
	bool idle = prof->header.idle > 0 && !needs_owners(prof);
	const char *hint = own ? CLI_PROFILER_HINT : CLI_IDLE_HINT;

	if (prof->header.excluded_stacks > 0)
		return cli_nothing(&prof->cli,
				   "no call stacks except those of the profiler" CLI_PROFILER_HINT);
	if ((own || idle) && prof->cli.image != NULL)
		return cli_no_image(&prof->cli, "samples", hint);
	if (own || idle)
		return cli_nothing(&prof->cli, "no samples except those of %s%s",
				   own ? "the profiler" : "waiting for work", hint);
	return cli_no_samples(&prof->cli, edges ? "edges" : "samples",
			      edges ? "no edges" : report_header_no_samples(&prof->header));
}

static int not_kept(const struct prof *prof)
{
	if (prof->by == BY_PROCESS || prof->by == BY_COMMAND)
		return cli_nothing(
			&prof->cli,
			"no samples are stored by process (see per_process in dcpid.conf)");
	return cli_nothing(&prof->cli, "no samples of a known %s (see units in dcpid.conf)",
			   by_names[prof->by]);
}

static int run_diff(struct prof *prof)
{
	struct stats_listing_config config = DIFF_REPORT_DEFAULTS;

	config.by = (enum tally_by)prof->by;
	return diff_report_run(&prof->difference, &prof->cli, SAMPLE_SETS_BY_DEFAULT, &config);
}

static int dcpiprof_run(struct prof *prof)
{
	struct edge_listing edges;
	struct report report;
	struct error err = {0};
	int r = dcpiprof_check_options(prof, &err);

	if (r == 0 && prof->diff)
		return run_diff(prof);
	if (r == 0)
		r = load_header(prof, &err);
	if (r == 0 && prof->header.epoch_count == 0)
		r = cli_no_epoch(&prof->cli, prof->reader, &err);
	if (r == 0)
		r = dcpiprof_load(prof, &err);
	if (r == -ENOENT && prof->reader != NULL)
		return cli_nothing(&prof->cli, "%s", err.message);
	if (r < 0)
		return cli_fail(&prof->cli, &err);
	if (prof->owners != NULL && !owner_tally_known(prof->owners))
		return not_kept(prof);
	report = report_of(prof, &edges);
	if (report.table.row_count == 0)
		return nothing(prof);
	report.header = &prof->header;
	return report_print(&report, &prof->cli, &err) < 0 ? cli_fail(&prof->cli, &err) : CLI_OK;
}

int main(int argc, char **argv)
{
	struct prof prof = {.by = BY_UNSET};
	int status = cli_parse(&prof.cli, &tool, argc, argv, &prof);

	if (status == CLI_RUN)
		status = sandboxed_start(&prof.cli, NULL);
	if (status == CLI_RUN)
		status = dcpiprof_run(&prof);
	event_choice_deinit(&prof.events);
	sample_listing_destroy(prof.samples);
	edge_tally_destroy(prof.edges);
	diff_report_deinit(&prof.difference);
	stack_listing_deinit(&prof.stack_lines);
	stack_profile_deinit(&prof.stack_profile);
	thread_listing_deinit(&prof.threads);
	data_listing_deinit(&prof.data);
	owner_listing_destroy(prof.owner_lines);
	owner_tally_destroy(prof.owners);
	tally_destroy(prof.tally);
	event_scale_deinit(&prof.scale);
	report_header_deinit(&prof.header);
	profile_reader_close(prof.reader);
	cli_deinit(&prof.cli);
	return status;
}
