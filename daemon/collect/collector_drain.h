/* SPDX-License-Identifier: GPL-2.0-only */
/* Drains samples and edges from the source into the bins that wait for a merge. */
#ifndef DCPI_COLLECTOR_DRAIN_H
#define DCPI_COLLECTOR_DRAIN_H

#include "daemon/collect/collector_state.h"

/**
 * collector_drain_ready() - process the samples that are ready, or everything if a flush is due.
 */
int collector_drain_ready(struct collector *collector, struct error *err);

/** collector_drain_all() - flush the source; then expire old data of processes. */
int collector_drain_all(struct collector *collector, struct error *err);

#endif
