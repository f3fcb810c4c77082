/* SPDX-License-Identifier: GPL-2.0-only */
/* Entries as the kernel and the sample store hand them over, told apart. */
#ifndef DCPI_SOURCE_CHUNK_H
#define DCPI_SOURCE_CHUNK_H

#include "daemon/source/source.h"

/**
 * source_chunk_walk() - hand a run of entries to a sink
 * @entries: as in kmod/uapi/dcpi_uapi.h; untrusted
 * @count:   how many
 * @sink:    @edge may be NULL: edges are then left out
 *
 * Entries that are not in use are skipped. Edges are unpacked, far ones put
 * together; what is neither a sample nor an edge, and the first half of a far
 * edge without its second, is skipped too.
 */
void source_chunk_walk(const struct dcpi_sample *entries, size_t count,
		       const struct source_sink *sink);

#endif
