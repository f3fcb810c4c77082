/* SPDX-License-Identifier: GPL-2.0-only */
/* The compressed records of a perf.data file: one zstd stream of records, in pieces. */
#ifndef DCPI_PERFDATA_UNPACK_H
#define DCPI_PERFDATA_UNPACK_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct perfdata_unpack;

int perfdata_unpack_create(struct perfdata_unpack **ret, struct error *err);

/** perfdata_unpack_destroy() - NULL is fine. */
void perfdata_unpack_destroy(struct perfdata_unpack *unpack);

/**
 * perfdata_unpack_add() - unpack a piece of the stream; at most 64 MiB come of it
 *
 * Return: 0; -EBADMSG it is damaged, or grows beyond that; -ENOMEM.
 */
int perfdata_unpack_add(struct perfdata_unpack *unpack, const void *data, size_t bytes,
			struct error *err);

/**
 * perfdata_unpack_next() - the next whole record
 * @record: out: room for 64 KiB
 *
 * Return: 1; 0 the next piece is needed for it; -EBADMSG it is malformed.
 */
int perfdata_unpack_next(struct perfdata_unpack *unpack, void *record, struct error *err);

#endif
