// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/scan_queue.h"

#include <stdlib.h>
#include <string.h>

#include "loader-hook/proc/process_scan.h"

void scan_queue_deinit(struct scan_queue *queue)
{
	free(queue->all);
	queue->all = NULL;
}

void scan_queue_all(struct scan_queue *queue)
{
	queue->all_due = true;
}

static size_t scan_queue_place(const struct scan_queue *queue, uint32_t pid)
{
	size_t i = 0;

	while (i < queue->named_count && queue->named[i] != pid)
		i++;
	return i;
}

void scan_queue_add(struct scan_queue *queue, uint32_t pid)
{
	if (pid == 0 || scan_queue_place(queue, pid) < queue->named_count)
		return;
	if (queue->named_count == SCAN_QUEUE_NAMED_MAX)
		queue->all_due = true;
	else
		queue->named[queue->named_count++] = pid;
}

void scan_queue_remove(struct scan_queue *queue, uint32_t pid)
{
	size_t i = scan_queue_place(queue, pid);

	if (i == queue->named_count)
		return;
	queue->named_count--;
	memmove(queue->named + i, queue->named + i + 1,
		(queue->named_count - i) * sizeof(queue->named[0]));
}

static void end_all(struct scan_queue *queue, uint64_t now_ns)
{
	uint64_t rest_ns = SCAN_QUEUE_REST * (now_ns - queue->began_ns);

	free(queue->all);
	queue->all = NULL;
	queue->all_count = 0;
	queue->next = 0;
	queue->rest_ns =
		now_ns + (rest_ns < SCAN_QUEUE_REST_MAX_NS ? rest_ns : SCAN_QUEUE_REST_MAX_NS);
}

static void begin_all(struct scan_queue *queue, uint64_t now_ns)
{
	queue->began_ns = now_ns;
	queue->next = 0;
	/* Without memory or /proc, try again after the pause. */
	if (process_scan_list(&queue->all, &queue->all_count, NULL) == 0)
		queue->all_due = false;
	else
		queue->rest_ns = now_ns + SCAN_QUEUE_REST_MAX_NS;
}

uint32_t scan_queue_next(struct scan_queue *queue, uint64_t now_ns)
{
	uint32_t pid;

	if (queue->named_count > 0) {
		pid = queue->named[0];
		scan_queue_remove(queue, pid);
		return pid;
	}
	if (queue->all == NULL && queue->all_due && now_ns >= queue->rest_ns)
		begin_all(queue, now_ns);
	if (queue->all == NULL)
		return 0;
	if (queue->next < queue->all_count)
		return queue->all[queue->next++];
	end_all(queue, now_ns);
	return 0;
}

bool scan_queue_is_busy(const struct scan_queue *queue, uint64_t now_ns)
{
	return queue->named_count > 0 || queue->all != NULL ||
	       (queue->all_due && now_ns >= queue->rest_ns);
}
