// SPDX-License-Identifier: GPL-2.0-only
/* Batches of complete profiles, divided into requests by size and number of samples. */
#include "ship/profile_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "ship/ship_config.h"

struct batch_event {
	struct profile_event event;
	char *name;
	char *unit;
};

/*
 * struct profile_batch - data of a protocol
 * @events:  of the epoch
 * @profile: that is being made; @count: its samples so far; @open: it is in the request
 * @entries: samples in the request
 * @total:   samples and losses of the slice
 */
struct profile_batch {
	const struct profile_format *format;
	void *data;
	struct samples samples;
	struct batch_event *events;
	size_t event_count, event_capacity;
	struct format_profile profile;
	uint64_t count;
	bool open;
	bool begun;
	uint64_t entries;
	uint64_t total;
	struct batch_builder *batch;
};

static int batch_no_memory(struct batch_builder *batch)
{
	return error_set(batch->err, ENOMEM, ERROR_NO_MEMORY);
}

int profile_batch_create(void **data, const struct profile_format *format, struct error *err)
{
	struct profile_batch *pb = calloc(1, sizeof(*pb));

	if (pb == NULL || format->create(&pb->data) < 0) {
		free(pb);
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	pb->format = format;
	*data = pb;
	return 0;
}

static void events_clear(struct profile_batch *pb)
{
	for (size_t i = 0; i < pb->event_count; i++) {
		free(pb->events[i].name);
		free(pb->events[i].unit);
	}
	pb->event_count = 0;
}

void profile_batch_destroy(void *data)
{
	struct profile_batch *pb = data;

	events_clear(pb);
	free(pb->events);
	samples_deinit(&pb->samples);
	pb->format->destroy(pb->data);
	free(pb);
}

static int batch_take_event(void *context, const struct profile_event *event)
{
	struct profile_batch *pb = context;
	struct batch_event *copy;

	if (array_reserve(&pb->events, &pb->event_capacity, pb->event_count + 1, sizeof(*copy)) < 0)
		return batch_no_memory(pb->batch);
	copy = &pb->events[pb->event_count++];
	*copy = (struct batch_event){*event, strdup(event->name), strdup(event->unit)};
	if (copy->name == NULL || copy->unit == NULL)
		return batch_no_memory(pb->batch);
	copy->event.name = copy->name;
	copy->event.unit = copy->unit;
	return 0;
}

int profile_batch_begin(struct batch_builder *batch)
{
	struct profile_batch *pb = batch->data;
	int r = samples_begin(&pb->samples, batch);

	pb->batch = batch;
	pb->open = pb->begun = false;
	events_clear(pb);
	if (r == 0 && batch->epoch != NULL)
		r = profile_reader_events(batch->reader, batch->epoch->id, batch_take_event, pb,
					  batch->err);
	return r;
}

static void profile_close(struct profile_batch *pb)
{
	if (pb->open)
		pb->format->close(pb->data, &pb->profile, pb->count);
	pb->open = false;
	pb->profile.first += pb->count;
	pb->count = 0;
}

/* Store the request. */
static int request_end(struct profile_batch *pb)
{
	struct ship_request request = {.target = "", .expect = "", .entries = pb->entries};

	profile_close(pb);
	if (!pb->begun)
		return 0;
	pb->begun = false;
	if (pb->format->end(pb->data, &request) < 0)
		return batch_no_memory(pb->batch);
	return protocol_request_add(pb->batch, &request);
}

/* Make room for a sample of the current profile. */
static int sample_prepare(struct profile_batch *pb)
{
	size_t limit = pb->batch->config->request_kb * 1024 - PROFILE_FORMAT_GROWTH_MAX;

	if (pb->begun &&
	    (pb->entries == PROFILE_FORMAT_SAMPLES_MAX || pb->format->bytes(pb->data) > limit ||
	     (pb->format->single && !pb->open))) {
		int r = request_end(pb);

		if (r < 0)
			return r;
	}
	if (!pb->begun) {
		pb->format->begin(pb->data, pb->batch, &pb->samples);
		pb->begun = true;
		pb->entries = 0;
	}
	if (!pb->open)
		pb->format->open(pb->data, &pb->profile);
	pb->open = true;
	pb->entries++;
	pb->count++;
	return 0;
}

static int add_sample(void *context, const struct named_sample *sample)
{
	struct profile_batch *pb = context;
	int r = sample_prepare(pb);

	if (r == 0)
		pb->format->sample(pb->data, sample);
	return r;
}

static int add_loss(struct profile_batch *pb, const char *name, uint64_t count)
{
	int r = sample_prepare(pb);

	if (r == 0)
		pb->format->loss(pb->data, name, count);
	if (r == 0 && __builtin_add_overflow(pb->total, count, &pb->total))
		r = error_set(pb->batch->err, EBADMSG, ERROR_DATABASE_COUNTS);
	return r;
}

static int take_counter(void *context, const struct profile_counter *counter)
{
	return strcmp(counter->group, "loss") == 0 && counter->count > 0
		       ? add_loss(context, counter->name, counter->count)
		       : 0;
}

/* Begin a profile; @event: NULL: of losses */
static void profile_begin(struct profile_batch *pb, const struct profile_slice *slice,
			  const struct profile_event *event)
{
	profile_close(pb);
	pb->profile = (struct format_profile){.slice = *slice};
	if (event != NULL)
		pb->profile.event = *event;
}

int profile_batch_slice(struct batch_builder *batch, const struct profile_epoch *part,
			const struct profile_slice *slice)
{
	struct profile_batch *pb = batch->data;
	int r = 0;

	pb->total = 0;
	for (size_t i = 0; r == 0 && i < pb->event_count; i++) {
		uint64_t samples;

		profile_begin(pb, slice, &pb->events[i].event);
		r = samples_read(&pb->samples, batch, part, &pb->events[i].event, add_sample, pb,
				 &samples);
		if (r == 0 && __builtin_add_overflow(pb->total, samples, &pb->total))
			r = error_set(batch->err, EBADMSG, ERROR_DATABASE_COUNTS);
	}
	if (r < 0)
		return r;
	profile_begin(pb, slice, NULL);
	r = profile_reader_counters(batch->reader, part, take_counter, pb, batch->err);
	return r == 0 ? protocol_check_slice(batch, part, slice, pb->total) : r;
}

int profile_batch_lost(struct batch_builder *batch, const struct profile_slice *slice,
		       const char *name)
{
	struct profile_batch *pb = batch->data;

	profile_begin(pb, slice, NULL);
	pb->total = 0;
	return add_loss(pb, name, slice->interrupts);
}

/* Edges, exact counts and call stacks have no place in these formats. */
int profile_batch_rest(struct batch_builder *batch)
{
	(void)batch;
	return 0;
}

int profile_batch_end(struct batch_builder *batch)
{
	return request_end(batch->data);
}

const char *profile_format_name(const struct batch_builder *batch, const struct samples *samples,
				const struct named_sample *sample, char *text)
{
	const struct sample_image *image = samples->images[sample->image];
	const char *slash = strrchr(image->path, '/');
	const char *base = slash != NULL ? slash + 1 : image->path;

	if (sample->procedure[0] != '\0')
		return sample->procedure;
	if (!batch->config->unnamed)
		return "";
	snprintf(text, PROFILE_FORMAT_NAME_BYTES, "%.256s!0x%" PRIx64,
		 base[0] != '\0' ? base : image->kind_name, sample->offset);
	return text;
}

const char *profile_format_type(const struct profile_event *event, const char **unit)
{
	bool time = strcmp(event->unit, "ns") == 0;

	*unit = time ? "nanoseconds" : event->unit;
	return time ? "cpu" : event->name;
}

uint64_t profile_format_period(const struct profile_event *event)
{
	return event->period_min / 2 + event->period_max / 2 +
	       (event->period_min % 2 + event->period_max % 2) / 2;
}
