/* SPDX-License-Identifier: GPL-2.0-only */
/* Automatic begin of epochs, and deletion of old ones. */
#ifndef DCPI_COLLECTOR_RETENTION_H
#define DCPI_COLLECTOR_RETENTION_H

#include "daemon/collect/collector_state.h"

/** collector_retention_tick() - begin an epoch if it is due, and delete a part of old ones. */
void collector_retention_tick(struct collector *collector);

#endif
