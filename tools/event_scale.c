// SPDX-License-Identifier: GPL-2.0-only
#include "tools/event_scale.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/error.h"

/* Only of events that took turns; ascending by epoch and event. */
struct event_factor {
	int64_t epoch;
	uint32_t event;
	double factor;
};

static int by_event(const void *a, const void *b)
{
	const struct event_factor *x = a, *y = b;

	if (x->epoch != y->epoch)
		return x->epoch < y->epoch ? -1 : 1;
	return (x->event > y->event) - (x->event < y->event);
}

static int add_event(void *context, const struct profile_event *event)
{
	struct event_scale *scale = context;

	/* An event that never ran has no samples to scale. */
	if (event->running_ns == 0 || event->running_ns >= event->enabled_ns)
		return 0;
	if (array_reserve(&scale->factors, &scale->capacity, scale->count + 1,
			  sizeof(*scale->factors)) < 0)
		return -ENOMEM;
	scale->factors[scale->count++] = (struct event_factor){
		.epoch = scale->epoch,
		.event = event->number,
		.factor = (double)event->enabled_ns / (double)event->running_ns,
	};
	return 0;
}

int event_scale_load(struct event_scale *scale, struct profile_reader *reader, int64_t epoch,
		     struct error *err)
{
	int r;

	scale->epoch = epoch;
	r = profile_reader_events(reader, epoch, add_event, scale, err);
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, "out of memory");
	if (scale->count > 0)
		qsort(scale->factors, scale->count, sizeof(*scale->factors), by_event);
	return r;
}

void event_scale_deinit(struct event_scale *scale)
{
	free(scale->factors);
	*scale = (struct event_scale){0};
}

double event_scale_factor(const struct event_scale *scale, int64_t epoch, uint32_t event)
{
	const struct event_factor key = {.epoch = epoch, .event = event};
	const struct event_factor *found = NULL;

	if (scale->count > 0)
		found = bsearch(&key, scale->factors, scale->count, sizeof(key), by_event);
	return found != NULL ? found->factor : 1;
}
