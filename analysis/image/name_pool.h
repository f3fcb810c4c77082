/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings that are freed together; returned strings never move.
 */
#ifndef DCPI_NAME_POOL_H
#define DCPI_NAME_POOL_H

#include <stddef.h>

struct name_pool_chunk;

/** struct name_pool - empty if zero-initialised; fields are private. */
struct name_pool {
	struct name_pool_chunk *chunks;
};

/** name_pool_deinit() - free all strings. */
void name_pool_deinit(struct name_pool *pool);

/** name_pool_add() - copy the first @bytes bytes of a string. Return: NULL if out of memory. */
const char *name_pool_add(struct name_pool *pool, const char *string, size_t bytes);

/** name_pool_format() - store a string formatted like printf. Return: NULL if out of memory. */
const char *name_pool_format(struct name_pool *pool, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
