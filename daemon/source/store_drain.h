/* SPDX-License-Identifier: GPL-2.0-only */
/* Emptying a sample store whose writer, owner and reader are one thread. */
#ifndef DCPI_STORE_DRAIN_H
#define DCPI_STORE_DRAIN_H

struct sample_store;
struct source_sink;

/** store_drain_full() - hand over the full buffers. */
void store_drain_full(struct sample_store *store, const struct source_sink *sink);

/** store_drain_all() - hand over everything, the table too; the store is empty then. */
void store_drain_all(struct sample_store *store, const struct source_sink *sink);

#endif
