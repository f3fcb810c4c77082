// SPDX-License-Identifier: GPL-2.0-only
/* dcpidiff - differences between two sets of samples */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/options.h"
#include "tools/report/cli.h"
#include "tools/report/sandboxed.h"
#include "tools/stacks/context_diff.h"
#include "tools/stats/diff_report.h"
#include "tools/stats/stats_options.h"

enum {
	KEY_BY_INSTRUCTION = STATS_OPTION_OWN,
	KEY_CONTEXTS,
};

static const struct option_entry own_options[] = {
	STATS_OPTIONS,
	{KEY_BY_INSTRUCTION, "by-instruction", NULL, "list instructions instead of procedures"},
	{KEY_CONTEXTS, "contexts", NULL,
	 "list procedures with all their callers, from call stacks, whose shares differ"},
};

/* struct diff - options, and the state of the report */
struct diff {
	struct cli cli;
	enum sample_sets_by by;
	struct stats_listing_config config;
	struct diff_report report;
	bool contexts;
	struct stack_profile profiles[2];
	struct context_diff difference;
};

static int dcpidiff_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct diff *diff = context;

	if (key == KEY_BY_INSTRUCTION) {
		diff->config.by = TALLY_BY_INSTRUCTION;
		return 0;
	}
	if (key == KEY_CONTEXTS) {
		diff->contexts = true;
		return 0;
	}
	return stats_option_set(&diff->config, &diff->by, key, argument, err);
}

static const struct cli_tool tool = {
	.name = "dcpidiff",
	.synopsis = "[OPTION]... [SET SET]",
	.summary = "Compare two sets of samples, before and after. A SET is EPOCHS, DATABASE or "
		   "DATABASE@EPOCHS.",
	.accepts = CLI_HEADER | CLI_EVENTS | CLI_BY_IMAGE | CLI_IMAGES | CLI_PID | CLI_EPOCHS |
		   CLI_LIMIT | CLI_SORT | CLI_FORMATS | CLI_TABLE | CLI_SYMBOLS | CLI_DATABASES |
		   CLI_PROFILER | CLI_IDLE | CLI_FROM,
	.fetch_by = "host",
	.operands_max = 2,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpidiff_set_option,
};

static int dcpidiff_check_options(struct diff *diff, struct error *err)
{
	if (diff->cli.by_image && diff->config.by == TALLY_BY_INSTRUCTION)
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--by-image", "--by-instruction"));
	if (diff->contexts &&
	    (diff->cli.by_image || diff->config.by != TALLY_BY_PROCEDURE ||
	     diff->cli.image != NULL || diff->cli.sort != NULL || diff->cli.filter.has_pid))
		return error_set(err, EINVAL,
				 "contexts cannot be listed with --by-image, --by-instruction, "
				 "--image, --sort or --pid");
	if (diff->cli.by_image)
		diff->config.by = TALLY_BY_IMAGE;
	return 0;
}

/* Load the stacks of one set. Its epochs must be in one database. */
static int contexts_load(struct diff *diff, size_t set, struct error *err)
{
	struct sample_sets *sets = &diff->report.sets;
	const struct sample_source *source = &sets->sources[sets->list[set].source];
	_cleanup_free_ int64_t *epochs = calloc(sets->list[set].epochs + 1, sizeof(*epochs));
	struct cli cli = diff->cli;

	if (epochs == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	cli.filter = sample_sets_filter(sets, set, epochs);
	cli.debug = source->debug;
	cli.database = source->path;
	return stack_profile_load(&diff->profiles[set], source->reader, &cli,
				  PROFILE_RECORDING_STACKS, err);
}

static int contexts_make(struct diff *diff, struct error *err)
{
	struct sample_sets *sets = &diff->report.sets;
	int r = sample_sets_load(sets, &diff->cli, diff->by, err);

	if (r == 0 && (sets->count != 2 || sets->by == SAMPLE_SETS_BY_HOST ||
		       sets->by == SAMPLE_SETS_BY_LABEL))
		r = error_set(err, EINVAL, "contexts are of two sets: epochs or databases");
	/* The header's numbers of samples come from the table. */
	if (r == 0)
		r = set_table_create(&diff->report.table, sets, TALLY_BY_IMAGE, false, &diff->cli,
				     err);
	for (size_t set = 0; set < 2 && r == 0; set++) {
		r = contexts_load(diff, set, err);
		sets->header.excluded_stacks += diff->profiles[set].excluded;
		sets->header.stacks += diff->profiles[set].stacks + diff->profiles[set].excluded;
	}
	if (r == 0 && context_diff_make(&diff->difference, diff->profiles, diff->cli.limit) < 0)
		r = error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return r;
}

static int contexts_run(struct diff *diff)
{
	struct report report;
	struct error err = {0};
	int r = contexts_make(diff, &err);

	if (r == -ENOENT)
		return cli_nothing(&diff->cli, "%s", err.message);
	if (r < 0)
		return cli_fail(&diff->cli, &err);
	report = context_diff_report(&diff->difference);
	if (report.table.row_count == 0)
		return cli_nothing(&diff->cli, "no context differs significantly");
	report.header = &diff->report.sets.header;
	return report_print(&report, &diff->cli, &err) < 0 ? cli_fail(&diff->cli, &err) : CLI_OK;
}

int main(int argc, char **argv)
{
	struct diff diff = {.by = SAMPLE_SETS_BY_DEFAULT, .config = DIFF_REPORT_DEFAULTS};
	int status = cli_parse(&diff.cli, &tool, argc, argv, &diff);
	struct error err;

	if (status == CLI_RUN)
		status = sandboxed_start(&diff.cli, NULL);
	if (status == CLI_RUN && dcpidiff_check_options(&diff, &err) < 0)
		status = cli_fail(&diff.cli, &err);
	if (status == CLI_RUN && diff.contexts)
		status = contexts_run(&diff);
	if (status == CLI_RUN && !diff.contexts)
		status = diff_report_run(&diff.report, &diff.cli, diff.by, &diff.config);
	context_diff_deinit(&diff.difference);
	for (int set = 0; set < 2; set++)
		stack_profile_deinit(&diff.profiles[set]);
	diff_report_deinit(&diff.report);
	cli_deinit(&diff.cli);
	return status;
}
