/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queries to the engine that dcpiship delivers to: ClickHouse, from version 18.16.
 */
#ifndef DCPI_ENGINE_H
#define DCPI_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "ship/ship_config.h"

struct error;
struct engine;

/**
 * engine_open() - prepare queries
 * @from: "clickhouse://HOST:PORT/DATABASE", "clickhouses://..." for HTTPS, or the path of a
 *        configuration of dcpiship, which may have a user and certificates
 *
 * Return: 0; -EINVAL @from is not valid; others of ship_config_read().
 */
int engine_open(struct engine **ret, const char *from, struct error *err);

/** engine_close() - free. NULL is fine. */
void engine_close(struct engine *engine);

/** Called for each row of a result; a non-zero result ends the iteration. */
typedef int (*engine_row_fn)(void *context, char *const *cells);

/**
 * engine_query() - run a query and visit its result
 * @columns: number of columns of the result, 1 .. ENGINE_COLUMNS_MAX
 *
 * Return: 0; the result of @visit; -EIO the engine cannot be reached, or reports an error; -EBADMSG
 * the reply is not a table with these columns.
 */
int engine_query(struct engine *engine, const char *query, size_t columns, engine_row_fn visit,
		 void *context, struct error *err);

#define ENGINE_COLUMNS_MAX 16

/** engine_number() - read a number of a cell, 0 .. @max. Return: 0 or -EBADMSG. */
int engine_number(const char *cell, uint64_t max, uint64_t *ret, struct error *err);

/** engine_time() - read a time in nanoseconds of a cell. Return: 0 or -EBADMSG. */
int engine_time(const char *cell, int64_t *ret, struct error *err);

#endif
