/* SPDX-License-Identifier: GPL-2.0-only */
/* The compressed records of a perf.data file: one zstd stream of records, divided into pieces. */
#ifndef DCPI_PERFDATA_UNPACK_H
#define DCPI_PERFDATA_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct perfdata_unpack;

int perfdata_unpack_create(struct perfdata_unpack **ret, struct error *err);

/** perfdata_unpack_destroy() - free everything. @unpack may be NULL. */
void perfdata_unpack_destroy(struct perfdata_unpack *unpack);

/**
 * perfdata_unpack_add() - unpack a piece of the stream; the result has at most 64 MiB
 *
 * Return: 0; -EBADMSG if it is damaged, or exceeds that size; -ENOMEM.
 */
int perfdata_unpack_add(struct perfdata_unpack *unpack, const void *data, size_t bytes,
			struct error *err);

/**
 * perfdata_unpack_next() - return the next complete record
 * @record:  out: buffer of 64 KiB
 * @swapped: records have the other byte order; only the record's header is converted
 *
 * Return: 1; 0 if the next piece is needed first; -EBADMSG if it is malformed.
 */
int perfdata_unpack_next(struct perfdata_unpack *unpack, void *record, bool swapped,
			 struct error *err);

#endif
