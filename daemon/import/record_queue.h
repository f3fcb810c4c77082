/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records in the order of their times. perf writes what it finds in the ring of one CPU
 * after the other, so that a file is in order in rounds only: what a round brings is
 * later than what the last but one did.
 */
#ifndef DCPI_RECORD_QUEUE_H
#define DCPI_RECORD_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct perf_event_header;
struct record_queue;

/** Takes a record; it is aligned. Return: 0, or an error that ends the delivery. */
typedef int (*record_queue_fn)(void *context, const struct perf_event_header *record,
			       struct error *err);

/**
 * record_queue_create() - an empty queue
 * @bytes_max: memory; beyond that the older half goes on its way, in order or not
 * @take:      where to
 */
int record_queue_create(struct record_queue **ret, size_t bytes_max, record_queue_fn take,
			void *context, struct error *err);
void record_queue_destroy(struct record_queue *queue);

/** record_queue_add() - Return: 0; -ENOMEM; what taking returned. */
int record_queue_add(struct record_queue *queue, uint64_t time_ns,
		     const struct perf_event_header *record, struct error *err);

/** record_queue_round() - a round of the file ends: deliver up to the end of the last one. */
int record_queue_round(struct record_queue *queue, struct error *err);

/** record_queue_finish() - deliver all. */
int record_queue_finish(struct record_queue *queue, struct error *err);

/** record_queue_late() - records that were older than one delivered before. */
uint64_t record_queue_late(const struct record_queue *queue);

#endif
