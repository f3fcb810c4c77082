/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Copies the samples of a fleet from the engine into a profile database. A group of epochs becomes
 * one epoch there.
 *
 * The database has samples by image, offset, event and unit, shares of units, losses, and the
 * procedures that the engine has. It has no processes, slices, edges, exact counts and stacks.
 */
#ifndef DCPI_FLEET_COPY_H
#define DCPI_FLEET_COPY_H

#include "ship/fleet_epoch.h"

/**
 * fleet_copy() - make a database
 * @path: of a new file
 *
 * Return: 0; the errors of engine_query() and of the writer.
 */
int fleet_copy(const struct fleet *fleet, struct engine *engine, const struct fleet_filter *filter,
	       const char *path, struct error *err);

#endif
