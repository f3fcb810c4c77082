// SPDX-License-Identifier: GPL-2.0-only
/* dcpitop - live view of where the machine spends its time: images, procedures, instructions */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/error.h"
#include "lib/near_names.h"
#include "lib/options.h"
#include "tools/report/cli.h"
#include "tools/report/sandboxed.h"
#include "tools/top/top_batch.h"
#include "tools/top/top_screen.h"

#define INTERVAL_DEFAULT_S 5
#define INTERVAL_MIN_S 0.5
#define INTERVAL_MAX_S 3600
/* Default for batch output. */
#define ROWS_DEFAULT 20

enum {
	KEY_BATCH = 1001,
	KEY_BY,
	KEY_HOST,
	KEY_NO_FLUSH,
	KEY_ROWS,
	KEY_SINCE_START,
	KEY_SOCKET,
};

static const struct option_entry own_options[] = {
	{'d', "interval", "SECONDS", "refresh every SECONDS (default: 5)"},
	{'n', "count", "N", "end after N refreshes"},
	{KEY_BATCH, "batch", NULL, "print a table for each refresh instead of a screen"},
	{KEY_ROWS, "rows", "N", "print N rows in each table (default: 20)"},
	{KEY_BY, "by", "WHAT", "begin with images (the default) or procedures"},
	{'e', "event", "EVENT", "show this event; default: the first of the epoch"},
	{KEY_SINCE_START, "since-start", NULL, "show totals since the start, not of the epoch"},
	{KEY_HOST, "host", "NAME", "show the last epoch of this host"},
	{KEY_SOCKET, "socket", "PATH", "connect to the daemon here (" CONTROL_CLIENT_SOCKET ")"},
	{KEY_NO_FLUSH, "no-flush", NULL, "do not request the daemon to store its samples"},
};

struct top {
	struct cli cli;
	struct top_view view;
	struct top_flush flush;
	const char *socket;
	const char *sort;
	double interval_s;
	int64_t count;
	int64_t rows;
	bool batch;
	bool no_flush;
};

static int set_by(struct top *top, const char *argument, struct error *err)
{
	static const char *const names[] = {"image", "procedure"};

	if (strcmp(argument, "image") == 0)
		top->view.shown = TOP_IMAGES;
	else if (strcmp(argument, "procedure") == 0)
		top->view.shown = TOP_PROCEDURES;
	else
		return near_names_unknown(err, "kind of row", argument, names,
					  sizeof(names) / sizeof(*names));
	return 0;
}

static int dcpitop_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct top *top = context;

	switch (key) {
	case 'd':
		return cli_real(argument, "interval", INTERVAL_MIN_S, INTERVAL_MAX_S,
				&top->interval_s, err);
	case 'n':
		return cli_number(argument, "number of refreshes", &top->count, err);
	case 'e':
		top->view.event_name = argument;
		break;
	case KEY_BATCH:
		top->batch = true;
		break;
	case KEY_ROWS:
		return cli_number(argument, "number of rows", &top->rows, err);
	case KEY_BY:
		return set_by(top, argument, err);
	case KEY_HOST:
		top->view.config.host = argument;
		break;
	case KEY_SOCKET:
		top->socket = argument;
		break;
	case KEY_NO_FLUSH:
		top->no_flush = true;
		break;
	case KEY_SINCE_START:
		top->view.of_epoch = false;
		break;
	}
	return 0;
}

static const struct cli_tool tool = {
	.name = "dcpitop",
	.synopsis = "[OPTION]...",
	.summary = "Show where the machine spends its time now: images, their procedures, and "
		   "causes of stalls of instructions.",
	.accepts = CLI_IMAGES | CLI_SORT | CLI_FORMATS | CLI_SYMBOLS | CLI_PROFILER | CLI_IDLE,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpitop_set_option,
};

static void dcpitop_prepare(struct top *top)
{
	struct top_view *view = &top->view;

	view->config.database = top->cli.database;
	view->config.include = top->cli.include;
	view->config.demangle = top->cli.demangle;
	view->config.debug = top->cli.debug;
	view->pattern = top->cli.image;
	top->flush.database = top->cli.database;
	top->flush.socket = top->no_flush ? NULL : top->socket;
	top->batch = top->batch || top->cli.format == CLI_JSON;
}

/* Runs before the screen is opened, so that an error gives a message and an exit status. */
static int first_update(struct top *top, struct error *err)
{
	int r = top_view_create(&top->view, err);

	if (r == 0 && top->cli.sort != NULL)
		r = top_view_sort_by(&top->view, top->cli.sort, err);
	if (r < 0)
		return r;
	top_flush_begin(&top->flush);
	top_flush_receive(&top->flush, 1);
	return top_view_update(&top->view, err);
}

static int dcpitop_run(struct top *top)
{
	int64_t interval_ns = (int64_t)(top->interval_s * 1e9);
	struct top_batch_options batch = {
		.interval_ns = interval_ns,
		.count = top->count,
		.rows = (size_t)top->rows,
		.json = top->cli.format == CLI_JSON,
		.width = top->cli.width,
	};
	struct top_screen_options screen = {
		.interval_ns = interval_ns,
		.count = top->count,
	};
	struct error err = {0};
	int r;

	r = first_update(top, &err);
	if (r < 0)
		top_screen_close();
	if (r == -ENOENT && top_counts_epoch(top->view.counts)->id == 0 &&
	    strcmp(err.message, "no epoch yet") == 0)
		return cli_nothing(&top->cli, "%s", err.message);
	if (r == 0 && top->batch)
		r = top_batch_run(&top->view, &top->flush, &batch, &err);
	else if (r == 0)
		r = top_screen_run(&top->view, &top->flush, &screen, &err);
	return r < 0 ? cli_fail(&top->cli, &err) : CLI_OK;
}

static int enter_sandbox(struct top *top)
{
	struct sandboxed_options options = {.live = true};
	struct error err;

	dcpitop_prepare(top);
	options.access.socket = top->flush.socket;
	if (!top->batch && top_screen_open(top->cli.color, &err) < 0)
		return cli_fail(&top->cli, &err);
	if (!top->batch && top->cli.terminal && isatty(STDIN_FILENO))
		options.screen = top_screen_close;
	return sandboxed_start(&top->cli, &options);
}

int main(int argc, char **argv)
{
	struct top top = {
		.view.of_epoch = true,
		.socket = CONTROL_CLIENT_SOCKET,
		.interval_s = INTERVAL_DEFAULT_S,
		.rows = ROWS_DEFAULT,
	};
	int status = cli_parse(&top.cli, &tool, argc, argv, &top);

	if (status == CLI_RUN)
		status = enter_sandbox(&top);
	if (status == CLI_RUN)
		status = dcpitop_run(&top);
	top_flush_deinit(&top.flush);
	top_view_deinit(&top.view);
	cli_deinit(&top.cli);
	return status;
}
