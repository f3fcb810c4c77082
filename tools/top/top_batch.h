/* SPDX-License-Identifier: GPL-2.0-only */
/* dcpitop without a screen: prints a table, or a line of JSON, at each refresh. */
#ifndef DCPI_TOP_BATCH_H
#define DCPI_TOP_BATCH_H

#include "tools/top/top_flush.h"
#include "tools/top/top_view.h"

/**
 * struct top_batch_options - format and frequency of the output
 * @interval_ns: between refreshes
 * @count:       number of refreshes; 0: until stopped
 * @rows:        per refresh; 0: all
 * @json:        a line of JSON per refresh; else text
 * @width:       of the terminal; 0: unlimited
 */
struct top_batch_options {
	int64_t interval_ns;
	int64_t count;
	size_t rows;
	bool json;
	size_t width;
};

/**
 * top_batch_run() - print a view immediately and after each interval
 * @view: must have been updated
 *
 * Return: 0; -ENOMEM; as top_view_update(); or the error of write(2).
 */
int top_batch_run(struct top_view *view, struct top_flush *flush,
		  const struct top_batch_options *options, struct error *err);

#endif
