/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sorts records by time. perf writes the contents of one CPU's ring after another, so that a file
 * is only sorted by rounds: the records of a round are later than those of the last but one.
 */
#ifndef DCPI_RECORD_QUEUE_H
#define DCPI_RECORD_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct perf_event_header;
struct record_queue;

/** Takes a record, which is aligned. Return: 0, or an error that ends the delivery. */
typedef int (*record_queue_fn)(void *context, const struct perf_event_header *record,
			       struct error *err);

/**
 * record_queue_create() - create an empty queue
 * @bytes_max: memory limit; beyond it the older half is delivered, even if it may be out of order
 * @take:      called with each record
 */
int record_queue_create(struct record_queue **ret, size_t bytes_max, record_queue_fn take,
			void *context, struct error *err);
void record_queue_destroy(struct record_queue *queue);

/** record_queue_add() - add a record. Return: 0; -ENOMEM; the error of @take. */
int record_queue_add(struct record_queue *queue, uint64_t time_ns,
		     const struct perf_event_header *record, struct error *err);

/**
 * record_queue_round() - end a round of the file: deliver records up to the end of the previous
 * one.
 */
int record_queue_round(struct record_queue *queue, struct error *err);

/** record_queue_finish() - deliver all records. */
int record_queue_finish(struct record_queue *queue, struct error *err);

/** record_queue_late() - return the number of records that were older than one delivered before. */
uint64_t record_queue_late(const struct record_queue *queue);

#endif
