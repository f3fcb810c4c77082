// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/event_scale.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/report/report_header.h"

/* Only factors other than 1 are stored, in ascending order of epoch and event. */
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

static struct event_factor *event_scale_find(const struct event_scale *scale, int64_t epoch,
					     uint32_t event)
{
	const struct event_factor key = {.epoch = epoch, .event = event};

	if (scale->count == 0)
		return NULL;
	return bsearch(&key, scale->factors, scale->count, sizeof(key), by_event);
}

static int add_factor(struct event_scale *scale, int64_t epoch, uint32_t event, double factor)
{
	const struct event_factor key = {epoch, event, factor};
	struct event_factor *known = event_scale_find(scale, epoch, event);
	size_t place;

	if (known != NULL) {
		known->factor *= factor;
		return 0;
	}
	if (array_reserve(&scale->factors, &scale->capacity, scale->count + 1,
			  sizeof(*scale->factors)) < 0)
		return -ENOMEM;
	/* Insert the factor in order. Epochs usually arrive in order, so few entries are moved. */
	for (place = scale->count++; place > 0 && by_event(&key, &scale->factors[place - 1]) < 0;
	     place--)
		scale->factors[place] = scale->factors[place - 1];
	scale->factors[place] = key;
	return 0;
}

static int add_event(void *context, const struct profile_event *event)
{
	struct event_scale *scale = context;
	double factor = 1;

	/* An event that was never on a counter has no samples to scale. */
	if (event->running_ns > 0 && event->running_ns < event->enabled_ns)
		factor = (double)event->enabled_ns / (double)event->running_ns;
	if (scale->header != NULL)
		factor *= report_header_period_factor(scale->header, event);
	return factor == 1 ? 0 : add_factor(scale, scale->epoch, event->number, factor);
}

int event_scale_period(struct event_scale *scale, int64_t epoch, uint32_t event, double factor)
{
	return factor == 1 ? 0 : add_factor(scale, epoch, event, factor);
}

int event_scale_load(struct event_scale *scale, struct profile_reader *reader, int64_t epoch,
		     struct error *err)
{
	int r;

	scale->epoch = epoch;
	r = profile_reader_events(reader, epoch, add_event, scale, err);
	return r == -ENOMEM ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : r;
}

int event_scale_load_header(struct event_scale *scale, struct profile_reader *reader,
			    const struct report_header *header, struct error *err)
{
	int r = 0;

	scale->header = header;
	for (size_t i = 0; r == 0 && i < header->epoch_count; i++)
		r = event_scale_load(scale, reader, header->epochs[i].id, err);
	scale->header = NULL;
	return r;
}

void event_scale_deinit(struct event_scale *scale)
{
	free(scale->factors);
	*scale = (struct event_scale){0};
}

double event_scale_factor(const struct event_scale *scale, int64_t epoch, uint32_t event)
{
	const struct event_factor *found = event_scale_find(scale, epoch, event);

	return found != NULL ? found->factor : 1;
}
