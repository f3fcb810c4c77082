// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>

#include "lib/error.h"
#include "tools/report/cli.h"
#include "tools/report/report_header.h"

static void print_totals(const struct report *report)
{
	printf("Total %s", report->totals_of);
	for (size_t i = 0; i < report->total_count; i++)
		printf("%s %s = %" PRIu64, i > 0 ? "," : "", report->totals[i].name,
		       report->totals[i].count);
	fputs("\n\n", stdout);
}

static int report_print_text(const struct report *report, const struct cli *cli)
{
	int r;

	if (report->preface.text != NULL)
		report->preface.text(stdout, report->preface.context);
	else
		print_totals(report);
	report_header_print(stdout, report->header, cli->width);
	if (report->caption != NULL)
		report->caption(stdout, report->preface.context);
	else
		fputc('\n', stdout);
	r = columns_text(stdout, &report->table, cli->width, cli->color);
	if (r == 0 && report->footer != NULL)
		report->footer(stdout, report->preface.context);
	return r;
}

static int totals_json(struct json_object *object, const struct report *report)
{
	struct json_object *totals = json_object_new_object();

	if (totals == NULL || json_object_object_add(object, "totals", totals) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < report->total_count; i++) {
		if (json_object_object_add(totals, report->totals[i].name,
					   json_object_new_uint64(report->totals[i].count)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int fill_json(const struct report *report, struct json_object *object)
{
	struct json_object *rows;
	int r;

	if (report->preface.json != NULL)
		r = report->preface.json(object, report->preface.context);
	else
		r = totals_json(object, report);
	if (r < 0 || report_header_json(object, report->header) < 0)
		return -ENOMEM;
	rows = columns_json(&report->table);
	if (rows == NULL)
		return -ENOMEM;
	return json_object_object_add(object, "rows", rows);
}

static int print_json(const struct report *report)
{
	struct json_object *object = json_object_new_object();
	const char *text = NULL;

	if (object != NULL && fill_json(report, object) == 0)
		text = json_object_to_json_string_ext(
			object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
					JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text != NULL)
		puts(text);
	json_object_put(object);
	return text != NULL ? 0 : -ENOMEM;
}

int report_print(const struct report *report, const struct cli *cli, struct error *err)
{
	int r = 0;

	switch (cli->format) {
	case CLI_TEXT:
		r = report_print_text(report, cli);
		break;
	case CLI_JSON:
		r = print_json(report);
		break;
	case CLI_CSV:
		r = columns_csv(stdout, &report->table);
		break;
	}
	return r < 0 ? error_set(err, ENOMEM, "out of memory") : cli_finish_output(err);
}
