// SPDX-License-Identifier: GPL-2.0-only
/* dcpicfg - drawing of a procedure's control-flow graph, with frequencies and costs */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/options.h"
#include "tools/base/graphviz.h"
#include "tools/base/text.h"
#include "tools/annotate/calc_driver.h"
#include "tools/flow/flow_dot.h"
#include "tools/report/cli.h"
#include "tools/report/output_file.h"
#include "tools/report/sandboxed.h"

enum {
	KEY_CODE = CALC_METHOD_OWN,
	KEY_NO_CODE,
	KEY_MIN_PERCENT,
};

static const struct option_entry own_options[] = {
	{'f', "format", "NAME", "write dot, svg, ps, pdf or png; default: from the file's name"},
	{'o', "output", "FILE", "write to FILE; default: standard output"},
	{KEY_CODE, "code", NULL,
	 "print all instructions (default: costly ones, if there are many)"},
	{KEY_NO_CODE, "no-code", NULL, "omit instructions"},
	{KEY_MIN_PERCENT, "min-percent", "PERCENT",
	 "draw only blocks with at least this share of the procedure's samples"},
	{'n', "limit", "N", "draw only the N blocks with most samples (default: 100)"},
	{'e', "event", "EVENT", "use this event as time: cycles, cpu-clock, ..."},
	CALC_METHOD_OPTIONS,
};

/* Pictures of larger graphs take long to draw and are too large to be useful. */
#define BLOCKS_DEFAULT 100

/* Formats, and their names for dot. With cairo, PostScript can contain any character. */
static const struct format {
	const char *name;
	const char *dot; /* NULL: the graph as text */
	bool binary;
} formats[] = {
	{"dot", NULL, false}, {"svg", "svg", false}, {"ps", "ps:cairo", false},
	{"pdf", "pdf", true}, {"png", "png", true},
};

#define FORMATS (sizeof(formats) / sizeof(*formats))

/* struct drawing - options, and the state of the report */
struct drawing {
	struct cli cli;
	const struct format *format;
	const char *output;
	const char *event;
	struct calc_method method;
	struct flow_options flow;
	struct profile_reader *reader;
	struct calc_source source;
	struct calc_choice choice;
	FILE *graph;
};

static const struct format *find_format(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++) {
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	}
	return NULL;
}

static int dcpicfg_set_option(void *context, int key, const char *argument, struct error *err)
{
	struct drawing *drawing = context;
	int64_t number = 0;
	int r = 0;

	switch (key) {
	case 'f':
		drawing->format = find_format(argument);
		if (drawing->format == NULL)
			r = error_set(err, EINVAL,
				      "unknown format '%s'; expected dot, svg, ps, pdf or png",
				      argument);
		break;
	case 'o':
		drawing->output = argument;
		break;
	case KEY_CODE:
		drawing->flow.code = FLOW_CODE_ALL;
		break;
	case KEY_NO_CODE:
		drawing->flow.code = FLOW_CODE_NONE;
		break;
	case KEY_MIN_PERCENT:
		r = cli_real(argument, "percentage", 0, 100, &drawing->flow.share, err);
		drawing->flow.share /= 100;
		break;
	case 'n':
		r = cli_number(argument, "number of blocks", &number, err);
		drawing->flow.blocks = (size_t)number;
		break;
	case 'e':
		drawing->event = argument;
		break;
	default:
		return calc_method_set(&drawing->method, key, argument, err);
	}
	return r;
}

static const struct cli_tool tool = {
	.name = "dcpicfg",
	.synopsis = "[OPTION]... [PROCEDURE|IMAGE:PROCEDURE|[IMAGE:]0xADDRESS]",
	.summary = "Draw the control-flow graph of a procedure with executions, costs and causes "
		   "of stalls; without an operand, of the hottest procedure.",
	.accepts = CLI_IMAGES | CLI_PID | CLI_EPOCHS | CLI_SYMBOLS | CLI_PROFILER | CLI_IDLE,
	.operands_max = 1,
	.options = own_options,
	.option_count = sizeof(own_options) / sizeof(*own_options),
	.set = dcpicfg_set_option,
};

static int choose_format(struct drawing *drawing, struct error *err)
{
	const char *dot = drawing->output != NULL ? strrchr(drawing->output, '.') : NULL;

	if (drawing->format == NULL && dot != NULL)
		drawing->format = find_format(dot + 1);
	if (drawing->format == NULL)
		drawing->format = &formats[0];
	if (drawing->format->binary && drawing->output == NULL && drawing->cli.terminal)
		return error_set(err, EINVAL, ERROR_TERMINAL, drawing->format->name);
	return 0;
}

static int print_graph(void *context, const struct procedure_analysis *analysis)
{
	struct drawing *drawing = context;
	const struct calc_choice *choice = &drawing->choice;
	_cleanup_free_ char *image = text_clean(choice->image->image.path);
	_cleanup_(procedure_names_deinit) struct procedure_names names = {0};
	struct calc_procedure procedure = {
		.code = choice->code,
		.analysis = analysis,
		.image = image,
		.names = &names,
		.all_samples = (double)drawing->source.images.time,
	};

	if (image == NULL ||
	    calc_procedure_names(&names, choice->code, analysis->index, drawing->cli.demangle) < 0)
		return -ENOMEM;
	if (profiler_class_excluded(profiler_class_of(&choice->image->image, names.name,
						      drawing->source.select.probes),
				    &drawing->cli.include))
		procedure.all_samples = 0;
	return flow_dot_print(drawing->graph, &procedure, &drawing->flow);
}

static int make_graph(struct drawing *drawing, struct error *err)
{
	struct calc_driver walk = {
		.cli = &drawing->cli,
		.source = &drawing->source,
		.method = drawing->method,
		.procedure = print_graph,
		.context = drawing,
		.doubtful = true,
	};
	int r;

	drawing->flow.time = drawing->source.events.time;
	drawing->graph = graphviz_file("graph", err);
	if (drawing->graph == NULL)
		return -err->errnum;
	r = calc_driver_one(&walk, &drawing->choice, err);
	return r == -ENOMEM ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : r;
}

static int write_picture(void *context, FILE *file, struct error *err)
{
	struct drawing *drawing = context;

	return graphviz_draw(drawing->graph, drawing->format->dot, file, err);
}

static int dcpicfg_run(struct drawing *drawing)
{
	struct error err = {0};
	int r = calc_method_check(&drawing->method, &err);

	if (r == 0)
		r = choose_format(drawing, &err);
	calc_source_exclude(&drawing->source, &drawing->cli, CALC_PROFILER_NO_SHARE);
	if (r == 0)
		r = calc_source_open(&drawing->source, &drawing->reader, &drawing->cli,
				     drawing->event, &err);
	drawing->source.select.counts = calc_method_counts(&drawing->method);
	if (r == 0)
		r = calc_source_choose(&drawing->choice, &drawing->source, &drawing->cli, &err);
	if (r == 0)
		r = make_graph(drawing, &err);
	if (r == -ENOENT && drawing->reader != NULL)
		return cli_nothing(&drawing->cli, "%s", err.message);
	if (r == 0)
		r = output_file_write(drawing->output, write_picture, drawing, &err);
	return r < 0 ? cli_fail(&drawing->cli, &err) : CLI_OK;
}

int main(int argc, char **argv)
{
	struct drawing drawing = {.flow.blocks = BLOCKS_DEFAULT};
	int status = cli_parse(&drawing.cli, &tool, argc, argv, &drawing);

	if (status == CLI_RUN)
		status = sandboxed_start(
			&drawing.cli, &(struct sandboxed_options){.access.output = drawing.output});
	if (status == CLI_RUN)
		status = dcpicfg_run(&drawing);
	if (drawing.graph != NULL)
		fclose(drawing.graph);
	calc_choice_deinit(&drawing.choice);
	calc_source_deinit(&drawing.source);
	profile_reader_close(drawing.reader);
	cli_deinit(&drawing.cli);
	return status;
}
