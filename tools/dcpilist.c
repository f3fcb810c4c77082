// SPDX-License-Identifier: GPL-2.0-only
/* dcpilist - source or instructions with their samples (named in DCPI section 3) */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/options.h"
#include "tools/annotate/calc_procedure.h"
#include "tools/annotate/calc_source.h"
#include "tools/list/list_file.h"
#include "tools/list/list_procedure.h"
#include "tools/report/cli.h"
#include "tools/report/event_choice.h"
#include "tools/report/event_role.h"
#include "tools/report/event_scale.h"
#include "tools/report/profiler_class.h"
#include "tools/report/sandboxed.h"
#include "tools/report/source_text.h"

enum {
	KEY_SOURCE = 1001,
	KEY_ASM,
	KEY_FILE,
	KEY_RAW,
};

static const struct option_entry own_options[] = {
	{KEY_SOURCE, "source", NULL, "list source lines (default, if known)"},
	{KEY_ASM, "asm", NULL, "list instructions"},
	{KEY_FILE, "file", "NAME",
	 "list a source file of all images; NAME is its path or the end of it"},
	{KEY_RAW, "raw", NULL, "print samples without scaling for multiplexing and periods"},
};

/* struct list - options, and the state of the report */
struct list {
	struct cli cli;
	bool want_source;
	bool want_code;
	bool raw;
	const char *file; /* NULL: a procedure */
	struct profile_reader *reader;
	struct calc_source source;
	struct event_choice events;
	struct event_scale scale;
	struct calc_choice choice;
	struct tally *all;   /* by image: for totals */
	struct tally *tally; /* by line, or of one image by instruction */
	struct source_text *text;
	struct list_rows rows;
	struct list_lines *lines;
	struct tally_count *counts;
	struct procedure_names names;
};

static int dcpilist_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct list *list = context;

	(void)err;
	switch (key) {
	case KEY_SOURCE:
		list->want_source = true;
		break;
	case KEY_ASM:
		list->want_code = true;
		break;
	case KEY_RAW:
		list->raw = true;
		break;
	default:
		list->file = argument;
		break;
	}
	return 0;
}

static const struct cli_tool tool = {
	.name = "dcpilist",
	.synopsis = "[OPTION]... [PROCEDURE|IMAGE:PROCEDURE|[IMAGE:]0xADDRESS]",
	.summary = "List the source or the instructions of a procedure, or a source file, with "
		   "samples; without an operand, the hottest procedure.",
	.accepts = CLI_HEADER | CLI_PROFILER | CLI_IDLE | CLI_EVENTS | CLI_IMAGES | CLI_PID |
		   CLI_EPOCHS | CLI_FORMATS | CLI_TABLE | CLI_SYMBOLS | CLI_SOURCES,
	.operands_max = 1,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpilist_set_option,
};

static int dcpilist_check_options(const struct list *list, struct error *err)
{
	if (list->want_source && list->want_code)
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--source", "--asm"));
	if (list->file != NULL && (list->want_code || list->cli.operand_count > 0))
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--file", "a procedure or --asm"));
	return 0;
}

/* Return the event by which procedures are chosen: the listed event that measures time best. */
static const char *leading_event(const struct list *list)
{
	const struct report_header *header = &list->source.header;
	enum event_time best = EVENT_TIME_NOT;
	const char *name = list->events.names[0];

	for (size_t i = 0; i < list->events.count; i++) {
		for (size_t j = 0; j < header->event_count; j++) {
			enum event_time time = event_role_time(&header->events[j]);

			if (strcmp(header->events[j].name, list->events.names[i]) != 0 ||
			    time >= best)
				continue;
			best = time;
			name = list->events.names[i];
		}
	}
	return name;
}

static int load_events(struct list *list, struct error *err)
{
	struct report_header *header = &list->source.header;
	int r = report_header_load(header, list->reader, &list->cli.filter, err);

	if (r == 0 && header->epoch_count == 0)
		return cli_no_epoch(&list->cli, list->reader, err);
	if (r == 0)
		r = event_choice_make(&list->events, header, &list->cli, err);
	if (r == 0 && list->events.count == 0)
		return error_set(err, ENOENT, "%s", report_header_no_samples(header));
	if (r == 0 && !list->raw)
		r = event_scale_load_header(&list->scale, list->reader, header, err);
	header->scaled = !list->raw;
	return r;
}

/* @pattern: count only rows of these images; NULL: all */
static int make_tally(struct list *list, struct tally **ret, enum tally_by by, int64_t image,
		      const char *pattern, struct error *err)
{
	struct tally_config config = {
		.events = list->events.names,
		.event_count = list->events.count,
		.filter = list->cli.filter,
		.image = pattern,
		.by = by,
		.scale = &list->scale,
		.demangle = list->cli.demangle,
		.debug = list->cli.debug,
		.include = list->cli.include,
	};

	config.filter.image = image;
	/* The tally of all images counts the samples of the profiler's processes. */
	if (!list->cli.include.profiler && by != TALLY_BY_IMAGE)
		config.filter.profiler = PROFILE_PROFILER_NOT;
	return tally_create(ret, list->reader, &config, err);
}

static int dcpilist_load(struct list *list, struct error *err)
{
	struct cli *cli = &list->cli;
	int r = cli_open(cli, &list->reader, err);

	if (r == 0)
		r = load_events(list, err);
	if (r == 0)
		r = make_tally(list, &list->all, TALLY_BY_IMAGE, 0, NULL, err);
	return r;
}

/* Load the data from which procedures are chosen; the header is already loaded. */
static int choose_procedure(struct list *list, struct error *err)
{
	struct calc_source *source = &list->source;
	struct cli *cli = &list->cli;
	int r;

	source->events.any_event = true;
	r = calc_source_load(source, list->reader, &cli->filter, leading_event(list), cli->image,
			     &cli->debug, err);
	if (r < 0)
		return r;
	source->select.counts = !list->want_source;
	source->select.names = !list->want_code;
	return calc_source_choose(&list->choice, source, cli, err);
}

/* List source if it is available, unless instructions are requested. */
static int list_rows_of(struct list *list, const struct list_procedure *procedure,
			struct error *err)
{
	const char *why = NULL;
	int r = -ENODATA;

	if (!list->want_code)
		r = list_procedure_source(procedure, &list->rows, &list->lines, &why);
	if (r == -ENODATA && (list->want_source || image_code_decoder(list->choice.code) == NULL))
		return error_set(err, ENODATA, "%s: %s", list->names.name, why);
	if (r == -ENODATA) {
		list->rows.note = why;
		r = list_procedure_code(procedure, &list->rows);
	}
	return r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}

static int list_one(struct list *list, struct error *err)
{
	struct list_procedure procedure = {.choice = &list->choice, .source = list->text};
	enum profiler_class class;
	int r = choose_procedure(list, err);

	if (r == 0)
		r = make_tally(list, &list->tally, TALLY_BY_INSTRUCTION, list->choice.image->id,
			       NULL, err);
	if (r < 0)
		return r;
	procedure.tally = list->tally;
	if (calc_procedure_names(&list->names, list->choice.code, list->choice.procedure,
				 list->cli.demangle) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	class = profiler_class_of(&list->choice.image->image, list->names.name,
				  list->source.select.probes);
	list->rows.mark = profiler_class_mark(class);
	list->rows.no_share = profiler_class_excluded(class, &list->cli.include);
	list->rows.title = "procedure";
	list->rows.name = list->names.name;
	list->rows.names = &list->names;
	list->rows.image = list->choice.image->image.path;
	list->rows.identity = image_code_build_id(list->choice.code);
	return list_rows_of(list, &procedure, err);
}

static int list_whole_file(struct list *list, struct error *err)
{
	const char *path = NULL;
	int r = make_tally(list, &list->tally, TALLY_BY_LINE, 0, list->cli.image, err);

	if (r == 0)
		r = list_file(list->file, list->tally, list->text, &list->rows, &list->counts,
			      &path, err);
	if (r < 0)
		return r;
	list->rows.title = "file";
	list->rows.name = path;
	return 0;
}

static int dcpilist_run(struct list *list)
{
	struct report report;
	struct error err = {0};
	int r = dcpilist_check_options(list, &err);

	list->text = source_text_create(&list->cli.sources);
	if (r == 0 && list->text == NULL)
		r = error_set(&err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0)
		r = dcpilist_load(list, &err);
	list->rows.events = list->events.names;
	list->rows.event_count = list->events.count;
	list->rows.all = list->all;
	if (r == 0)
		r = list->file != NULL ? list_whole_file(list, &err) : list_one(list, &err);
	if (r == 0 && list_rows_finish(&list->rows) < 0)
		r = error_set(&err, ENOMEM, ERROR_NO_MEMORY);
	if (r == -ENOENT && list->reader != NULL)
		return cli_nothing(&list->cli, "%s", err.message);
	if (r < 0)
		return cli_fail(&list->cli, &err);
	tally_describe(list->all, &list->source.header); /* calc_source_load() has no exclusions */
	report = list_rows_report(&list->rows, list->cli.format == CLI_TEXT);
	report.header = &list->source.header;
	return report_print(&report, &list->cli, &err) < 0 ? cli_fail(&list->cli, &err) : CLI_OK;
}

int main(int argc, char **argv)
{
	struct list list = {.raw = false};
	int status = cli_parse(&list.cli, &tool, argc, argv, &list);

	if (status == CLI_RUN)
		status = sandboxed_start(&list.cli, NULL);
	if (status == CLI_RUN)
		status = dcpilist_run(&list);
	list_rows_deinit(&list.rows);
	list_lines_free(list.lines);
	free(list.counts);
	procedure_names_deinit(&list.names);
	source_text_destroy(list.text);
	tally_destroy(list.tally);
	tally_destroy(list.all);
	calc_choice_deinit(&list.choice);
	event_choice_deinit(&list.events);
	event_scale_deinit(&list.scale);
	calc_source_deinit(&list.source);
	profile_reader_close(list.reader);
	cli_deinit(&list.cli);
	return status;
}
