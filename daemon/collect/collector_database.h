/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handling of a database that is removed, moved, replaced or overwritten while the collector has it
 * open.
 */
#ifndef DCPI_COLLECTOR_DATABASE_H
#define DCPI_COLLECTOR_DATABASE_H

#include "daemon/collect/collector_state.h"

/**
 * collector_database_renew() - after a transaction failed with -ESTALE, open a new database
 *
 * If the database was moved, the samples in memory are merged into it and its epoch ends; the next
 * epoch begins in the new database. If the database no longer exists, the epoch continues in the
 * new one. Samples that were stored, and are not in the file at the path, are its loss
 * "database_replaced". The caller merges samples in memory into the new database.
 *
 * If the file at the path is a valid profile database, it is used; it is not opened while it is
 * being copied there.
 *
 * Return: 0; -EAGAIN if a database is being copied to the path: try again later; or negative errno:
 * samples stay in memory.
 */
int collector_database_renew(struct collector *collector, struct error *err);

#endif
