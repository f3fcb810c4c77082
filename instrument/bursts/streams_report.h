/* SPDX-License-Identifier: GPL-2.0-only */
/* Hot data streams (data_streams.h) as a listing, which can be read again. */
#ifndef DCPI_INSTRUMENT_STREAMS_REPORT_H
#define DCPI_INSTRUMENT_STREAMS_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "instrument/bursts/data_streams.h"

/**
 * streams_report_print() - print streams, hottest first
 * @limit: maximum number; 0: all. Without @csv a line reports how many were left out
 * @csv:   after one line of names, with full signatures, for streams_report_read()
 */
void streams_report_print(FILE *out, const struct bursts_map *map,
			  const struct data_streams *streams, size_t limit, bool csv);

/**
 * streams_report_read() - read a listing that was printed with @csv
 * @ret: out; its streams have no @reference
 *
 * Return: 0; -EBADMSG not such a listing; -ENOMEM; errors of open(2) and read(2).
 */
int streams_report_read(struct data_streams *ret, const char *path, struct error *err);

#endif
