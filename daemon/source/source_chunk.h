/* SPDX-License-Identifier: GPL-2.0-only */
/* Decode entries of the kernel or the sample store into samples and edges. */
#ifndef DCPI_SOURCE_CHUNK_H
#define DCPI_SOURCE_CHUNK_H

#include "daemon/source/source.h"

/**
 * source_chunk_walk() - pass a run of entries to a sink
 * @entries: as in kmod/uapi/dcpi_uapi.h; untrusted
 * @count:   number of @entries
 * @sink:    @edge may be NULL to omit edges
 *
 * Unused entries are skipped. Edges are unpacked, and the entries of far edges are joined. Entries
 * that are neither samples nor edges are skipped, as is the first half of a far edge without its
 * second one.
 */
void source_chunk_walk(const struct dcpi_sample *entries, size_t count,
		       const struct source_sink *sink);

#endif
