// SPDX-License-Identifier: GPL-2.0-only
/*
 * Speedscope's JSON: a sampled profile for each event, of stacks of two frames
 * (image, procedure).
 */
#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "tools/base/json_stream.h"
#include "tools/export/exporter.h"

/* Frames are numbered as they are written: an image, then each of its procedures. */
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

/* The samples or the weights of an event, which walk over the procedures alike. */
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

static uint64_t total(const struct export_profile *profile, size_t event)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->row_count; i++)
		sum += profile->rows[i].counts[event].samples;
	return sum;
}

static int write_speedscope(FILE *file, const struct export_profile *profile, struct error *err)
{
	_cleanup_free_ uint64_t *samples = calloc(profile->event_count + 1, sizeof(*samples));
	struct json_stream json = {.file = file};

	if (samples == NULL)
		return error_set(err, ENOMEM, "out of memory");
	json_stream_open(&json, NULL, '{');
	json_stream_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_stream_text(&json, "name", profile->comment);
	json_stream_text(&json, "exporter", "dcpiexport");
	json_stream_open(&json, "shared", '{');
	put_frames(&json, profile);
	json_stream_close(&json, '}');
	json_stream_open(&json, "profiles", '[');
	for (size_t event = 0; event < profile->event_count; event++) {
		json_stream_open(&json, NULL, '{');
		json_stream_text(&json, "type", "sampled");
		json_stream_text(&json, "name", profile->events[event].name);
		json_stream_text(&json, "unit", "none");
		json_stream_count(&json, "startValue", 0);
		json_stream_count(&json, "endValue", total(profile, event));
		put_event(&json, profile, event, samples, false);
		put_event(&json, profile, event, samples, true);
		json_stream_close(&json, '}');
	}
	json_stream_close(&json, ']');
	json_stream_close(&json, '}');
	json_stream_line(&json);
	return 0;
}

const struct exporter exporter_speedscope = {
	.name = "speedscope",
	.summary = "speedscope's JSON, a profile an event",
	.write = write_speedscope,
};
