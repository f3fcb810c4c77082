// SPDX-License-Identifier: GPL-2.0-only
#include "tools/top/top_batch.h"

#include <errno.h>
#include <json-c/json.h>
#include <time.h>

#include "tools/report/cli.h"
#include "lib/error_text.h"

static int top_batch_print_text(const struct top_view *view, const struct columns_table *table,
				size_t width)
{
	char text[TOP_HEADING_BYTES];

	for (unsigned int i = 0; i < TOP_HEADING_LINES; i++) {
		top_view_heading(view, i, text);
		puts(text);
	}
	putchar('\n');
	if (columns_text(stdout, table, width, false) < 0)
		return -ENOMEM;
	putchar('\n');
	return 0;
}

static int add_time(struct json_object *object, const char *key, int64_t time_ns)
{
	time_t seconds = (time_t)(time_ns / 1000000000);
	char text[40] = "";
	struct tm parts;

	if (gmtime_r(&seconds, &parts) != NULL)
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
	return json_object_object_add(object, key, json_object_new_string(text));
}

static int fill_json(struct json_object *object, const struct top_view *view,
		     const struct columns_table *table)
{
	const struct profile_epoch *epoch = top_counts_epoch(view->counts);
	const struct top_rows *rows = &view->rows;
	uint64_t interrupts, lost = top_counts_lost(view->counts, &interrupts);
	size_t count;
	const char *const *events = top_counts_events(view->counts, &count);
	struct json_object *list = columns_json(table);
	int r = list == NULL ? -ENOMEM : 0;

	r |= json_object_object_add(object, "epoch", json_object_new_int64(epoch->id));
	r |= json_object_object_add(object, "host", json_object_new_string(epoch->host));
	r |= add_time(object, "time", epoch->end_ns);
	r |= json_object_object_add(
		object, "event",
		json_object_new_string(view->event < count ? events[view->event] : ""));
	r |= json_object_object_add(object, "interval_ns",
				    json_object_new_int64(rows->interval_ns));
	r |= json_object_object_add(object, "interval_samples",
				    json_object_new_uint64(rows->interval));
	r |= add_time(object, "since", rows->since_ns);
	r |= json_object_object_add(object, "total_samples", json_object_new_uint64(rows->total));
	if (rows->own_total > 0) {
		r |= json_object_object_add(object, "interval_profiler_samples",
					    json_object_new_uint64(rows->own_interval));
		r |= json_object_object_add(object, "profiler_samples",
					    json_object_new_uint64(rows->own_total));
	}
	if (rows->idle_total > 0) {
		r |= json_object_object_add(object, "interval_idle_samples",
					    json_object_new_uint64(rows->idle_interval));
		r |= json_object_object_add(object, "idle_samples",
					    json_object_new_uint64(rows->idle_total));
	}
	r |= json_object_object_add(object, "interrupts", json_object_new_uint64(interrupts));
	r |= json_object_object_add(object, "lost", json_object_new_uint64(lost));
	r |= json_object_object_add(object, "rows", list);
	return r == 0 ? 0 : -ENOMEM;
}

static int print_json(const struct top_view *view, const struct columns_table *table)
{
	struct json_object *object = json_object_new_object();
	const char *text = NULL;

	if (object != NULL && fill_json(object, view, table) == 0)
		text = json_object_to_json_string_ext(
			object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text != NULL)
		puts(text);
	json_object_put(object);
	return text != NULL ? 0 : -ENOMEM;
}

static int top_batch_print(const struct top_view *view, const struct top_batch_options *options,
			   struct error *err)
{
	struct columns_table table = view->table;
	int r;

	if (options->rows > 0 && table.row_count > options->rows)
		table.row_count = options->rows;
	r = options->json ? print_json(view, &table)
			  : top_batch_print_text(view, &table, options->width);
	return r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : cli_finish_output(err);
}

int top_batch_run(struct top_view *view, struct top_flush *flush,
		  const struct top_batch_options *options, struct error *err)
{
	int64_t done = 1;
	int r = top_batch_print(view, options, err);

	for (; r == 0 && (options->count == 0 || done < options->count); done++) {
		struct timespec pause = {.tv_sec = options->interval_ns / 1000000000,
					 .tv_nsec = options->interval_ns % 1000000000};

		clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
		top_flush_begin(flush);
		top_flush_receive(flush, 1);
		r = top_view_update(view, err);
		if (r == 0)
			r = top_batch_print(view, options, err);
	}
	return r;
}
