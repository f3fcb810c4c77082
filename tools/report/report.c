// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stddef.h>
#include <string.h>

#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/json_tree.h"
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

/* Print the text above the table on a terminal. */
static void print_brief(const struct report *report, const struct cli *cli)
{
	report_header_print_brief(stdout, report->header, cli->width);
	fputc('\n', stdout);
	if (report->notes == NULL && report->caption != NULL)
		report->caption(stdout, report->preface.context);
}

static void print_full(const struct report *report, const struct cli *cli)
{
	if (report->preface.text != NULL)
		report->preface.text(stdout, report->preface.context);
	else
		print_totals(report);
	report_header_print(stdout, report->header, cli->width);
	if (report->notes != NULL)
		report->notes(stdout, report->preface.context);
	if (report->caption != NULL)
		report->caption(stdout, report->preface.context);
	else
		fputc('\n', stdout);
}

static int report_print_text(const struct report *report, const struct cli *cli)
{
	int r;

	if (cli->brief)
		print_brief(report, cli);
	else
		print_full(report, cli);
	r = columns_text(stdout, &report->table, cli->width, cli->color);
	if (r < 0)
		return r;
	if (report->footer != NULL)
		report->footer(stdout, report->preface.context);
	if (cli->brief && report->notes != NULL) {
		fputc('\n', stdout);
		report->notes(stdout, report->preface.context);
	}
	if (cli->brief)
		report_header_print_hints(stdout, report->header, cli->width);
	return 0;
}

/* Add one number of each total. */
static int add_numbers(struct json_object *object, const char *key, const struct report *report,
		       size_t offset)
{
	struct json_object *numbers = json_object_new_object();

	if (json_tree_add(object, key, numbers) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < report->total_count; i++) {
		uint64_t number;

		memcpy(&number, (const char *)&report->totals[i] + offset, sizeof(number));
		if (json_tree_add(numbers, report->totals[i].name, json_object_new_uint64(number)) <
		    0)
			return -ENOMEM;
	}
	return 0;
}

static int totals_json(struct json_object *object, const struct report *report)
{
	uint64_t excluded = 0, idle = 0;

	for (size_t i = 0; i < report->total_count; i++) {
		excluded |= report->totals[i].excluded;
		idle |= report->totals[i].idle;
	}
	if (add_numbers(object, "totals", report, offsetof(struct report_total, count)) < 0)
		return -ENOMEM;
	if (excluded != 0 && add_numbers(object, "profiler_totals", report,
					 offsetof(struct report_total, excluded)) < 0)
		return -ENOMEM;
	return idle != 0 ? add_numbers(object, "idle_totals", report,
				       offsetof(struct report_total, idle))
			 : 0;
}

static int fill_json(const struct report *report, struct json_object *object)
{
	struct json_object *rows;
	int r;

	if (report->preface.json != NULL)
		r = report->preface.json(object, report->preface.context);
	else
		r = totals_json(object, report);
	if (r == 0 && report->header != NULL)
		r = report_header_json(object, report->header);
	if (r < 0)
		return -ENOMEM;
	rows = columns_json(&report->table);
	if (rows == NULL)
		return -ENOMEM;
	return json_object_object_add(object, "rows", rows);
}

struct json_object *report_json(const struct report *report)
{
	struct json_object *object = json_object_new_object();

	if (object != NULL && fill_json(report, object) == 0)
		return object;
	json_object_put(object);
	return NULL;
}

static int print_json(const struct report *report)
{
	struct json_object *object = report_json(report);
	const char *text = NULL;

	if (object != NULL)
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
	return r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : cli_finish_output(err);
}
