/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The processes that are to be read from /proc: all of them at the start and after a loss of
 * events, and named ones.
 *
 * A user can have enough processes and mappings for a scan to take minutes. Processes are read
 * a few at a time between drains, in an order that alternates between users (process_scan_list()).
 *
 * After a scan of all processes the next one is delayed by SCAN_QUEUE_REST times its duration.
 */
#ifndef DCPI_SCAN_QUEUE_H
#define DCPI_SCAN_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/clock.h"

#define SCAN_QUEUE_NAMED_MAX 1024
#define SCAN_QUEUE_REST 20
/* The maximum delay of a scan. */
#define SCAN_QUEUE_REST_MAX_NS (10 * NS_PER_SECOND)

/**
 * struct scan_queue - zero-initialised is empty
 * @named:    processes to be read before all others
 * @all:      processes of a scan of all; @next: index of the next one to read
 * @all_due:  another scan of all processes is due
 * @began_ns: start of the scan of all
 * @rest_ns:  earliest start of the next one
 */
struct scan_queue {
	uint32_t named[SCAN_QUEUE_NAMED_MAX];
	size_t named_count;
	uint32_t *all;
	size_t all_count;
	size_t next;
	bool all_due;
	uint64_t began_ns;
	uint64_t rest_ns;
};

void scan_queue_deinit(struct scan_queue *queue);

/** scan_queue_all() - request a scan of all processes. */
void scan_queue_all(struct scan_queue *queue);

/** scan_queue_add() - request a scan of one process, or of all processes if the list is full. */
void scan_queue_add(struct scan_queue *queue, uint32_t pid);

/** scan_queue_remove() - a process has been read in another way. */
void scan_queue_remove(struct scan_queue *queue, uint32_t pid);

/** scan_queue_next() - take the next process to be read now. Return: 0: none. */
uint32_t scan_queue_next(struct scan_queue *queue, uint64_t now_ns);

/** scan_queue_is_busy() - return true if scan_queue_next() would return a process. */
bool scan_queue_is_busy(const struct scan_queue *queue, uint64_t now_ns);

#endif
