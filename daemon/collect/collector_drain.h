/* SPDX-License-Identifier: GPL-2.0-only */
/* Samples and edges: from the source to the bins that wait for a merge. */
#ifndef DCPI_COLLECTOR_DRAIN_H
#define DCPI_COLLECTOR_DRAIN_H

#include "daemon/collect/collector_state.h"

/** collector_drain_ready() - take what is ready; all, if that is called for. */
int collector_drain_ready(struct collector *collector, struct error *err);

/** collector_drain_all() - take all that the source has; then forget what is over. */
int collector_drain_all(struct collector *collector, struct error *err);

#endif
