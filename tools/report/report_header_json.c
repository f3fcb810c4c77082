// SPDX-License-Identifier: GPL-2.0-only
/* The header of a report in JSON. */
#include "tools/report/report_header.h"

#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "lib/cleanup.h"
#include "tools/base/json_tree.h"
#include "tools/base/time_spec.h"

static int add_text(struct json_object *object, const char *key, const char *text)
{
	return json_tree_add(object, key, json_object_new_string(text));
}

static int add_count(struct json_object *object, const char *key, uint64_t count)
{
	return json_tree_add(object, key, json_object_new_uint64(count));
}

static int add_time(struct json_object *object, const char *key, int64_t time_ns)
{
	char text[TIME_SPEC_BYTES];

	time_spec_utc(text, time_ns);
	return add_text(object, key, text);
}

static struct json_object *epoch_json(const struct profile_epoch *epoch)
{
	struct json_object *object = json_object_new_object();

	if (object == NULL)
		return NULL;
	if (json_tree_add(object, "epoch", json_object_new_int64(epoch->id)) < 0 ||
	    add_time(object, "start", epoch->start_ns) < 0 ||
	    add_time(object, "end", epoch->end_ns) < 0 ||
	    json_tree_add(object, "open", json_object_new_boolean(epoch->open)) < 0 ||
	    add_text(object, "host", epoch->host) < 0 ||
	    add_text(object, "cpu_model", epoch->cpu_model) < 0 ||
	    add_count(object, "cpus", epoch->cpus) < 0 ||
	    add_text(object, "kernel", epoch->kernel) < 0 ||
	    add_text(object, "source", epoch->source) < 0 ||
	    add_text(object, "source_reason", epoch->source_reason) < 0 ||
	    add_text(object, "label", epoch->label) < 0 ||
	    add_count(object, "interrupts", epoch->interrupts) < 0 ||
	    (epoch->slices > 0 && add_count(object, "slices", epoch->slices) < 0)) {
		json_object_put(object);
		return NULL;
	}
	return object;
}

static struct json_object *event_json(const struct report_header *header,
				      const struct profile_event *event)
{
	bool scaled =
		report_header_took_turns(event) || report_header_period_factor(header, event) != 1;
	struct json_object *object = json_object_new_object();

	if (object == NULL)
		return NULL;
	if (add_text(object, "event", event->name) < 0 ||
	    add_text(object, "unit", event->unit) < 0 ||
	    add_count(object, "period_min", event->period_min) < 0 ||
	    add_count(object, "period_max", event->period_max) < 0 ||
	    add_count(object, "enabled_ns", event->enabled_ns) < 0 ||
	    add_count(object, "running_ns", event->running_ns) < 0 ||
	    json_tree_add(object, "scaled", json_object_new_boolean(header->scaled && scaled)) <
		    0) {
		json_object_put(object);
		return NULL;
	}
	return object;
}

/* Append an item; takes ownership of @item, also on failure. */
static int report_header_json_append(struct json_object *array, struct json_object *item)
{
	if (item != NULL && json_object_array_add(array, item) == 0)
		return 0;
	json_object_put(item);
	return -ENOMEM;
}

static int add_lists(struct json_object *object, const struct report_header *header)
{
	struct json_object *epochs = json_object_new_array(), *events;
	int r = json_tree_add(object, "epochs", epochs);

	for (size_t i = 0; r == 0 && i < header->epoch_count; i++)
		r = report_header_json_append(epochs, epoch_json(&header->epochs[i]));
	if (r < 0)
		return r;
	events = json_object_new_array();
	r = json_tree_add(object, "events", events);
	for (size_t i = 0; r == 0 && i < header->event_count; i++)
		r = report_header_json_append(events, event_json(header, &header->events[i]));
	return r;
}

static int add_counters(struct json_object *object, const char *key,
			const struct report_header *header, const char *group)
{
	struct json_object *counters = json_object_new_object();
	int r = json_tree_add(object, key, counters);

	for (size_t i = 0; r == 0 && i < header->counter_count; i++) {
		if (strcmp(header->counters[i].group, group) == 0)
			r = add_count(counters, header->counters[i].name,
				      header->counters[i].count);
	}
	return r;
}

/* The member is omitted if there are no hints. */
static int add_hints(struct json_object *object, const struct report_header *header)
{
	struct json_object *hints = NULL;

	for (size_t i = 0; i < JIT_HINT_RUNTIMES; i++) {
		_cleanup_free_ char *hint = NULL;
		int r = jit_hint_text(&header->jit, i, header->samples, &hint);

		if (r < 0)
			return r;
		if (hint == NULL)
			continue;
		if (hints == NULL) {
			hints = json_object_new_array();
			if (json_tree_add(object, "hints", hints) < 0)
				return -ENOMEM;
		}
		if (report_header_json_append(hints, json_object_new_string(hint)) < 0)
			return -ENOMEM;
	}
	return 0;
}

int report_header_json(struct json_object *object, const struct report_header *header)
{
	uint64_t lost = report_header_losses(header), edges_handed;
	uint64_t edges_lost = report_header_edges_lost(header, &edges_handed);

	if (add_lists(object, header) < 0 ||
	    add_count(object, "interrupts", header->interrupts) < 0 ||
	    add_count(object, "samples", header->samples) < 0 ||
	    add_count(object, "lost", lost) < 0 ||
	    json_tree_add(object, "exact",
			  json_object_new_boolean(header->interrupts == header->samples + lost)) <
		    0 ||
	    add_counters(object, "losses", header, "loss") < 0 ||
	    add_count(object, "unknown", header->unknown) < 0 ||
	    add_counters(object, "unknown_reasons", header, "unknown") < 0)
		return -ENOMEM;
	if (header->excluded > 0 && add_count(object, "profiler_samples", header->excluded) < 0)
		return -ENOMEM;
	if (header->idle > 0 && add_count(object, "idle_samples", header->idle) < 0)
		return -ENOMEM;
	if (header->excluded_stacks > 0 &&
	    add_count(object, "profiler_stacks", header->excluded_stacks) < 0)
		return -ENOMEM;
	if (add_hints(object, header) < 0)
		return -ENOMEM;
	if (header->has_edges && (add_count(object, "edges_handed", edges_handed) < 0 ||
				  add_count(object, "edges", header->edges) < 0 ||
				  add_count(object, "edges_lost", edges_lost) < 0))
		return -ENOMEM;
	return 0;
}
