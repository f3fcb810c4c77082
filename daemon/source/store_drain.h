/* SPDX-License-Identifier: GPL-2.0-only */
/* Drain a sample store whose writer, owner and reader are the same thread. */
#ifndef DCPI_STORE_DRAIN_H
#define DCPI_STORE_DRAIN_H

struct sample_store;
struct source_sink;

/** store_drain_full() - pass on the full buffers. */
void store_drain_full(struct sample_store *store, const struct source_sink *sink);

/** store_drain_all() - pass on everything, including the table, and empty the store. */
void store_drain_all(struct sample_store *store, const struct source_sink *sink);

#endif
