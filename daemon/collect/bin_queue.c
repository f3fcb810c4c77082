// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/bin_queue.h"

#include <errno.h>
#include <stdlib.h>

size_t bin_queue_bytes(const struct bin_queue *queue)
{
	return queue->bytes + u64_map_bytes(&queue->index);
}

bool bin_queue_full(const struct bin_queue *queue)
{
	return bin_queue_bytes(queue) >= queue->memory_limit;
}

struct bin *bin_queue_find(const struct bin_queue *queue, uint64_t key)
{
	const uint64_t *slot = u64_map_find(&queue->index, key);

	return slot != NULL ? (struct bin *)(uintptr_t)*slot : NULL;
}

struct bin *bin_queue_create(struct bin_queue *queue, uint64_t key, size_t bytes)
{
	struct bin *bin = bin_queue_full(queue) ? NULL : calloc(1, bytes);
	uint64_t *slot = bin != NULL ? u64_map_insert(&queue->index, key) : NULL;

	if (slot == NULL) {
		free(bin);
		return NULL;
	}
	*slot = (uint64_t)(uintptr_t)bin;
	bin->key = key;
	if (queue->youngest != NULL)
		queue->youngest->next = bin;
	else
		queue->first = bin;
	queue->youngest = bin;
	queue->count++;
	queue->bytes += bytes;
	return bin;
}

int bin_queue_refuse(struct bin_queue *queue, uint64_t count)
{
	queue->refused += count;
	return -ENOMEM;
}

void bin_queue_drop(struct bin_queue *queue, size_t bytes)
{
	const struct bin *bin = queue->first;

	queue->first = bin->next;
	if (queue->first == NULL)
		queue->youngest = NULL;
	u64_map_remove(&queue->index, bin->key);
	queue->bytes -= bytes;
	queue->held -= bin->held;
	queue->count--;
	if (queue->count == 0)
		u64_map_deinit(&queue->index);
}
