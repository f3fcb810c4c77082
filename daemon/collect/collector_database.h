/* SPDX-License-Identifier: GPL-2.0-only */
/* A database that was removed, moved, replaced or overwritten while the collector had it open. */
#ifndef DCPI_COLLECTOR_DATABASE_H
#define DCPI_COLLECTOR_DATABASE_H

#include "daemon/collect/collector_state.h"

/**
 * collector_database_renew() - after a transaction failed with -ESTALE, open a new database
 *
 * A database that was moved gets the samples in memory, its epoch ends there, and the next epoch
 * begins in the new database. If the database is gone, the epoch goes on in the new one; samples
 * that were stored, and that the file at the path does not have, are its loss
 * "database_replaced". Samples in memory are merged into the new database by the caller.
 *
 * If the file at the path is a sound profile database, that is the new one; it is not opened
 * while it is being copied there.
 *
 * Return: 0; -EAGAIN a database is being copied to the path: try again later; or negative errno:
 * samples stay in memory.
 */
int collector_database_renew(struct collector *collector, struct error *err);

#endif
