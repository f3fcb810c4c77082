// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/store_drain.h"

#include "daemon/source/source_chunk.h"
#include "kmod/core/sample_store.h"

void store_drain_full(struct sample_store *store, const struct source_sink *sink)
{
	struct sample_chunk chunk;
	int buffer;

	while ((buffer = sample_store_full(store, &chunk)) >= 0) {
		source_chunk_walk(chunk.entries, chunk.count, sink);
		sample_store_release(store, buffer);
	}
}

/* Writer and reader are one thread: no call is concurrent, and none is refused. */
void store_drain_all(struct sample_store *store, const struct source_sink *sink)
{
	struct sample_chunk table = sample_store_table(store);

	store_drain_full(store, sink);
	sample_store_flush_begin(store);
	source_chunk_walk(table.entries, table.count, sink);
	sample_store_table_clear(store, 0, table.count);
	sample_store_retire(store);
	store_drain_full(store, sink);
	sample_store_flush_end(store);
}
