// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/name_pool.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 65536

struct name_pool_chunk {
	struct name_pool_chunk *next;
	size_t used;
	size_t bytes;
	char strings[];
};

void name_pool_deinit(struct name_pool *pool)
{
	while (pool->chunks != NULL) {
		struct name_pool_chunk *chunk = pool->chunks;

		pool->chunks = chunk->next;
		free(chunk);
	}
}

static char *name_pool_reserve(struct name_pool *pool, size_t bytes)
{
	struct name_pool_chunk *chunk = pool->chunks;
	size_t room;

	if (chunk == NULL || chunk->bytes - chunk->used < bytes) {
		room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
		chunk = malloc(sizeof(*chunk) + room);
		if (chunk == NULL)
			return NULL;
		chunk->next = pool->chunks;
		chunk->used = 0;
		chunk->bytes = room;
		pool->chunks = chunk;
	}
	chunk->used += bytes;
	return chunk->strings + chunk->used - bytes;
}

const char *name_pool_add(struct name_pool *pool, const char *string, size_t bytes)
{
	char *copy = name_pool_reserve(pool, bytes + 1);

	if (copy == NULL)
		return NULL;
	memcpy(copy, string, bytes);
	copy[bytes] = '\0';
	return copy;
}

const char *name_pool_format(struct name_pool *pool, const char *format, ...)
{
	va_list args, again;
	char *copy = NULL;
	int length;

	va_start(args, format);
	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, args);
	if (length >= 0)
		copy = name_pool_reserve(pool, (size_t)length + 1);
	if (copy != NULL)
		vsnprintf(copy, (size_t)length + 1, format, again);
	va_end(again);
	va_end(args);
	return copy;
}
