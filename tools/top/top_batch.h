/* SPDX-License-Identifier: GPL-2.0-only */
/* dcpitop without a screen: a table, or a line of JSON, a refresh. */
#ifndef DCPI_TOP_BATCH_H
#define DCPI_TOP_BATCH_H

#include "tools/top/top_flush.h"
#include "tools/top/top_view.h"

/**
 * struct top_batch_options - how
 * @interval_ns: between refreshes
 * @count:       refreshes; 0: until stopped
 * @rows:        of each; 0: all
 * @json:        a line of JSON each; else text
 * @width:       of the terminal; 0: any
 */
struct top_batch_options {
	int64_t interval_ns;
	int64_t count;
	size_t rows;
	bool json;
	size_t width;
};

/**
 * top_batch_run() - print a view, and again after each interval
 * @view: updated before
 *
 * Return: 0; -ENOMEM; as of top_view_update(); or the error of write(2).
 */
int top_batch_run(struct top_view *view, struct top_flush *flush,
		  const struct top_batch_options *options, struct error *err);

#endif
