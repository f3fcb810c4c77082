/* SPDX-License-Identifier: GPL-2.0-only */
/* Hot data streams (data_streams.h) as a listing, and as one that is read again. */
#ifndef DCPI_INSTRUMENT_STREAMS_REPORT_H
#define DCPI_INSTRUMENT_STREAMS_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "instrument/bursts/data_streams.h"

/**
 * streams_report_print() - print them, hottest first
 * @limit: at most so many; 0: all. Without @csv a line says how many were left out
 * @csv:   one line of names, and signatures in full, for streams_report_read()
 */
void streams_report_print(FILE *out, const struct bursts_map *map,
			  const struct data_streams *streams, size_t limit, bool csv);

/**
 * streams_report_read() - read what was printed with @csv
 * @ret: out; its streams have no @reference
 *
 * Return: 0; -EBADMSG it is something else; -ENOMEM; errors of open(2) and read(2).
 */
int streams_report_read(struct data_streams *ret, const char *path, struct error *err);

#endif
