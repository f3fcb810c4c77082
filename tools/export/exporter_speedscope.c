// SPDX-License-Identifier: GPL-2.0-only
/*
 * Speedscope's JSON: a sampled profile for each event, with stacks of two frames (image,
 * procedure).
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/base/json_stream.h"
#include "tools/export/export_contexts.h"
#include "tools/export/exporter.h"

/*
 * Frames are numbered in the order in which they are written: an image, then each of its
 * procedures.
 */
static void put_frames(struct json_stream *json, const struct export_profile *profile)
{
	const struct tally_row *before = NULL;

	json_stream_open(json, "frames", '[');
	for (size_t i = 0; i < profile->row_count; i++) {
		const struct tally_row *row = &profile->rows[i];

		if (before == NULL || row->image != before->image) {
			json_stream_open(json, NULL, '{');
			json_stream_text(json, "name", row->image);
			json_stream_close(json, '}');
		}
		if (before == NULL || !exporter_same_procedure(row, before)) {
			json_stream_open(json, NULL, '{');
			json_stream_text(json, "name", row->procedure);
			if (row->source != NULL) {
				json_stream_text(json, "file", row->source);
				json_stream_count(json, "line", row->line);
			}
			json_stream_close(json, '}');
		}
		before = row;
	}
	json_stream_close(json, ']');
}

/*
 * Write the samples or the weights of an event; both arrays have the procedures in the same order.
 */
static void put_event(struct json_stream *json, const struct export_profile *profile, size_t event,
		      uint64_t *samples, bool weights)
{
	const char *image = NULL;
	uint64_t frame = 0, image_frame = 0;
	size_t row = 0, next;

	json_stream_open(json, weights ? "weights" : "samples", '[');
	for (; row < profile->row_count; row = next) {
		if (profile->rows[row].image != image)
			image_frame = frame++;
		image = profile->rows[row].image;
		next = exporter_procedure(profile, row, samples);
		if (samples[event] > 0 && weights) {
			json_stream_count(json, NULL, samples[event]);
		} else if (samples[event] > 0) {
			json_stream_open(json, NULL, '[');
			json_stream_count(json, NULL, image_frame);
			json_stream_count(json, NULL, frame);
			json_stream_close(json, ']');
		}
		frame++;
	}
	json_stream_close(json, ']');
}

static uint64_t total(const struct export_profile *profile, size_t event, uint64_t *samples)
{
	uint64_t sum = 0;

	for (size_t row = 0; row < profile->row_count;) {
		row = exporter_procedure(profile, row, samples);
		sum += samples[event];
	}
	return sum;
}

static void speedscope_put_head(struct json_stream *json, const char *name)
{
	json_stream_open(json, NULL, '{');
	json_stream_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_stream_text(json, "name", name);
	json_stream_text(json, "exporter", "dcpiexport");
	json_stream_open(json, "shared", '{');
}

/* Write the beginning of a sampled profile, before samples and weights. */
static void put_profile(struct json_stream *json, const char *name, const char *unit, uint64_t sum)
{
	json_stream_open(json, NULL, '{');
	json_stream_text(json, "type", "sampled");
	json_stream_text(json, "name", name);
	json_stream_text(json, "unit", unit);
	json_stream_count(json, "startValue", 0);
	json_stream_count(json, "endValue", sum);
}

static int write_speedscope(FILE *file, const struct export_profile *profile, struct error *err)
{
	_cleanup_free_ uint64_t *samples = calloc(profile->event_count + 1, sizeof(*samples));
	struct json_stream json = {.file = file};

	if (samples == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	speedscope_put_head(&json, profile->comment);
	put_frames(&json, profile);
	json_stream_close(&json, '}');
	json_stream_open(&json, "profiles", '[');
	for (size_t event = 0; event < profile->event_count; event++) {
		put_profile(&json, profile->events[event].name, "none",
			    total(profile, event, samples));
		put_event(&json, profile, event, samples, false);
		put_event(&json, profile, event, samples, true);
		json_stream_close(&json, '}');
	}
	json_stream_close(&json, ']');
	json_stream_close(&json, '}');
	json_stream_line(&json);
	return 0;
}

/* Write a stack from the root; @stack has room for as many entries as there are nodes. */
static void put_stack(struct json_stream *json, const struct export_contexts *contexts,
		      uint32_t node, uint32_t *stack)
{
	size_t depth = 0;

	for (; node != 0; node = contexts->stacks.nodes[node].parent)
		stack[depth++] = contexts->contexts[node].procedure;
	json_stream_open(json, NULL, '[');
	while (depth-- > 0)
		json_stream_count(json, NULL, stack[depth]);
	json_stream_close(json, ']');
}

static void put_contexts(struct json_stream *json, const struct export_contexts *contexts,
			 uint32_t *stack, bool weights)
{
	json_stream_open(json, weights ? "weights" : "samples", '[');
	for (uint32_t i = 1; i < contexts->stacks.count; i++) {
		uint64_t value = contexts->stacks.nodes[i].value;

		if (value > 0 && weights)
			json_stream_count(json, NULL, value);
		else if (value > 0)
			put_stack(json, contexts, i, stack);
	}
	json_stream_close(json, ']');
}

static int speedscope_write_contexts(FILE *file, const struct export_contexts *contexts,
				     struct error *err)
{
	_cleanup_free_ uint32_t *stack = calloc(contexts->stacks.count + 1, sizeof(*stack));
	struct json_stream json = {.file = file};
	uint64_t sum = 0;

	if (stack == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	speedscope_put_head(&json, export_contexts_title(contexts));
	json_stream_open(&json, "frames", '[');
	for (size_t i = 0; i < contexts->procedure_count; i++) {
		json_stream_open(&json, NULL, '{');
		json_stream_text(&json, "name", contexts->procedures[i].name);
		json_stream_close(&json, '}');
	}
	json_stream_close(&json, ']');
	json_stream_close(&json, '}');
	json_stream_open(&json, "profiles", '[');
	for (size_t i = 1; i < contexts->stacks.count; i++)
		sum += contexts->stacks.nodes[i].value;
	put_profile(&json, contexts->metric, contexts->unit != NULL ? contexts->unit : "none", sum);
	put_contexts(&json, contexts, stack, false);
	put_contexts(&json, contexts, stack, true);
	json_stream_close(&json, '}');
	json_stream_close(&json, ']');
	json_stream_close(&json, '}');
	json_stream_line(&json);
	return 0;
}

const struct exporter exporter_speedscope = {
	.name = "speedscope",
	.summary = "speedscope's JSON, one profile per event",
	.write = write_speedscope,
	.write_contexts = speedscope_write_contexts,
};
