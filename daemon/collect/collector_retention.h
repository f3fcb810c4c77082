/* SPDX-License-Identifier: GPL-2.0-only */
/* When epochs begin by themselves, and when old ones go. */
#ifndef DCPI_COLLECTOR_RETENTION_H
#define DCPI_COLLECTOR_RETENTION_H

#include "daemon/collect/collector_state.h"

/** collector_retention_tick() - begin an epoch if it is time to, forget a little of old ones. */
void collector_retention_tick(struct collector *collector);

#endif
