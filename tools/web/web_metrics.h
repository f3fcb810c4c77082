/* SPDX-License-Identifier: GPL-2.0-only */
/* Counters of the server itself, in Prometheus' text format. */
#ifndef DCPI_WEB_METRICS_H
#define DCPI_WEB_METRICS_H

#include <stdint.h>

#include "tools/web/report_cache.h"

struct web_clients;

/* Answers are counted by status: 100 .. 599. */
#define WEB_STATUS_MIN 100
#define WEB_STATUS_MAX 599

/** struct web_counts - answers since the start, by status */
struct web_counts {
	uint64_t answers[WEB_STATUS_MAX - WEB_STATUS_MIN + 1];
};

/** web_counts_add() - count an answer */
void web_counts_add(struct web_counts *counts, unsigned int status);

/**
 * web_metrics_text() - print all counters
 * @database: the counts of the database are known, and follow
 *
 * Return: malloc'd, or NULL if out of memory.
 */
char *web_metrics_text(const struct web_counts *counts, const struct report_counts *reports,
		       const struct web_clients *clients, bool database);

#endif
