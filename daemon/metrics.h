/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The daemon's status as metrics in Prometheus' text format 0.0.4, for a node exporter's textfile
 * collector or any other scraper.
 */
#ifndef DCPI_METRICS_H
#define DCPI_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct metrics_value;

/** struct metrics - zero-initialised is empty; fields are private. */
struct metrics {
	struct metrics_value *values;
	size_t count;
	size_t capacity;
};

/**
 * metrics_add() - add a line of the reply to "status" or "stats"
 *
 * Strings are copied. If a key has several values, the first one counts.
 *
 * Return: 0 or -ENOMEM.
 */
int metrics_add(struct metrics *metrics, const char *key, const char *value);

/** metrics_find() - return the value of a key, NULL if there is none. */
const char *metrics_find(const struct metrics *metrics, const char *key);

/**
 * metrics_at() - return the line that was added as number @index. Return: false if there is none.
 */
bool metrics_at(const struct metrics *metrics, size_t index, const char **key, const char **value);

/** metrics_print() - print all metrics among the lines added; other lines are ignored. */
void metrics_print(FILE *stream, const struct metrics *metrics);

void metrics_deinit(struct metrics *metrics);

#endif
