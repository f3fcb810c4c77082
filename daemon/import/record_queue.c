// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/record_queue.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* @at: offset of the record in the queue's bytes; later records have higher offsets */
struct place {
	uint64_t time_ns;
	size_t at;
};

/*
 * @last_ns:  the latest time added
 * @round_ns: value of @last_ns at the end of the last round
 * @taken_ns: the latest time delivered
 */
struct record_queue {
	record_queue_fn take;
	void *context;
	size_t bytes_max;
	struct place *places;
	size_t count;
	size_t capacity;
	uint8_t *bytes;
	size_t used;
	size_t room;
	uint64_t last_ns;
	uint64_t round_ns;
	uint64_t taken_ns;
	uint64_t late;
};

int record_queue_create(struct record_queue **ret, size_t bytes_max, record_queue_fn take,
			void *context, struct error *err)
{
	struct record_queue *queue = calloc(1, sizeof(*queue));

	if (queue == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	queue->take = take;
	queue->context = context;
	queue->bytes_max = bytes_max;
	*ret = queue;
	return 0;
}

void record_queue_destroy(struct record_queue *queue)
{
	if (queue == NULL)
		return;
	free(queue->places);
	free(queue->bytes);
	free(queue);
}

static int by_time(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static size_t aligned(size_t bytes)
{
	return (bytes + 7) & ~(size_t)7;
}

/* Move the remaining records to the front. */
static void close_gaps(struct record_queue *queue, size_t gone)
{
	size_t used = 0;

	queue->count -= gone;
	memmove(queue->places, queue->places + gone, queue->count * sizeof(*queue->places));
	if (queue->count > 0)
		qsort(queue->places, queue->count, sizeof(*queue->places), by_place);
	for (size_t i = 0; i < queue->count; i++) {
		const uint8_t *from = queue->bytes + queue->places[i].at;
		size_t bytes = aligned(((const struct perf_event_header *)from)->size);

		memmove(queue->bytes + used, from, bytes);
		queue->places[i].at = used;
		used += bytes;
	}
	queue->used = used;
}

static int record_queue_deliver(struct record_queue *queue, uint64_t until_ns, struct error *err)
{
	size_t i = 0;
	int r = 0;

	if (queue->count == 0)
		return 0;
	qsort(queue->places, queue->count, sizeof(*queue->places), by_time);
	for (; r == 0 && i < queue->count && queue->places[i].time_ns <= until_ns; i++) {
		const struct place *place = &queue->places[i];

		if (place->time_ns < queue->taken_ns)
			queue->late++;
		else
			queue->taken_ns = place->time_ns;
		r = queue->take(queue->context,
				(const struct perf_event_header *)(queue->bytes + place->at), err);
	}
	close_gaps(queue, i);
	return r;
}

/* Deliver up to the median time, if the recording contains no rounds. */
static int deliver_half(struct record_queue *queue, struct error *err)
{
	uint64_t middle;

	qsort(queue->places, queue->count, sizeof(*queue->places), by_time);
	middle = queue->places[queue->count / 2].time_ns;
	return record_queue_deliver(queue, middle, err);
}

int record_queue_add(struct record_queue *queue, uint64_t time_ns,
		     const struct perf_event_header *record, struct error *err)
{
	size_t bytes = aligned(record->size);

	if (queue->count > 0 && queue->used + bytes > queue->bytes_max) {
		int r = deliver_half(queue, err);

		if (r < 0)
			return r;
	}
	if (array_reserve(&queue->bytes, &queue->room, queue->used + bytes, 1) < 0 ||
	    array_reserve(&queue->places, &queue->capacity, queue->count + 1,
			  sizeof(*queue->places)) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	memcpy(queue->bytes + queue->used, record, record->size);
	queue->places[queue->count++] = (struct place){.time_ns = time_ns, .at = queue->used};
	queue->used += bytes;
	if (time_ns > queue->last_ns)
		queue->last_ns = time_ns;
	return 0;
}

int record_queue_round(struct record_queue *queue, struct error *err)
{
	int r = record_queue_deliver(queue, queue->round_ns, err);

	queue->round_ns = queue->last_ns;
	return r;
}

int record_queue_finish(struct record_queue *queue, struct error *err)
{
	return record_queue_deliver(queue, UINT64_MAX, err);
}

uint64_t record_queue_late(const struct record_queue *queue)
{
	return queue->late;
}
