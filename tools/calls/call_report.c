// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calls/call_report.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>

#include "instrument/calls/call_map.h"
#include "lib/cleanup.h"
#include "tools/base/json_tree.h"
#include "tools/base/text.h"

static const char *const metrics[] = {
	[CALL_METRIC_NONE] = "calls",
	[CALL_METRIC_CYCLES] = "cycles",
	[CALL_METRIC_INSTRUCTIONS] = "instructions",
};

static const char *const losses[CALL_LOSSES] = {
	[CALL_LOSS_FULL] = "calls_without_room",
	[CALL_LOSS_NESTED] = "calls_in_nested_signals",
	[CALL_LOSS_DEEP] = "calls_too_deep",
	[CALL_LOSS_UNMATCHED] = "returns_without_call",
};

void call_report_heading(FILE *stream, const struct call_report *report)
{
	_cleanup_free_ char *path = text_clean(report->map->path);

	fprintf(stream, "image       %s\n", path != NULL ? path : "?");
	if (report->metric != CALL_METRIC_NONE)
		fprintf(stream, "metric      %" PRIu64 " %s\n", report->total,
			metrics[report->metric]);
	fprintf(stream, "contexts    %" PRIu64 ", of %" PRIu64 " thread%s\n", report->contexts,
		report->threads, report->threads == 1 ? "" : "s");
	if (report->map->switches_stacks)
		fputs("unknown     callers on other stacks: the program switches stacks, so that a "
		      "call after a switch may have a caller other than the one listed\n",
		      stream);
	for (size_t i = 0; i < CALL_LOSSES; i++) {
		if (report->losses[i] > 0)
			fprintf(stream, "lost        %" PRIu64 " %s\n", report->losses[i],
				losses[i]);
	}
	if (report->shared > 0)
		fprintf(stream, "lost        %" PRIu64 " threads_without_room\n", report->shared);
}

bool call_report_member(struct json_object *object, const char *key, struct json_object *member)
{
	return json_tree_add(object, key, member) == 0;
}

static bool add_losses(struct json_object *object, const struct call_report *report)
{
	struct json_object *lost = json_object_new_object();
	bool good = lost != NULL;

	for (size_t i = 0; good && i < CALL_LOSSES; i++)
		good = call_report_member(lost, losses[i],
					  json_object_new_uint64(report->losses[i]));
	good = good && call_report_member(lost, "threads_without_room",
					  json_object_new_uint64(report->shared));
	good = good && call_report_member(object, "lost", json_object_get(lost));
	json_object_put(lost);
	return good;
}

struct json_object *call_report_json(const struct call_report *report)
{
	struct json_object *object = json_object_new_object();

	if (object != NULL &&
	    call_report_member(object, "image", json_object_new_string(report->map->path)) &&
	    call_report_member(object, "build_id", json_object_new_string(report->map->build_id)) &&
	    call_report_member(object, "metric", json_object_new_string(metrics[report->metric])) &&
	    call_report_member(object, "total", json_object_new_uint64(report->total)) &&
	    call_report_member(object, "contexts", json_object_new_uint64(report->contexts)) &&
	    call_report_member(object, "threads", json_object_new_uint64(report->threads)) &&
	    call_report_member(object, "switches_stacks",
			       json_object_new_boolean(report->map->switches_stacks)) &&
	    add_losses(object, report))
		return object;
	json_object_put(object);
	return NULL;
}

int call_report_print_json(struct json_object *object)
{
	if (object == NULL)
		return -ENOMEM;
	puts(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PRETTY |
							    JSON_C_TO_STRING_SPACED |
							    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
	return 0;
}
