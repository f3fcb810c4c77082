/* SPDX-License-Identifier: GPL-2.0-only */
/* The option --from: reports about samples that an engine stores for many machines. */
#ifndef DCPI_FLEET_DATABASE_H
#define DCPI_FLEET_DATABASE_H

#include "tools/report/cli.h"

/**
 * fleet_database_make() - copy the samples that the options select into a temporary database
 *
 * Runs dcpifetch, which reads them from the engine @cli->from. Sets @cli->database and @databases,
 * and clears the selections that the copy has made. A process deletes the database when this
 * program, and all processes that it started, have ended.
 *
 * Return: CLI_RUN, or the status to exit with; the reason has been printed.
 */
int fleet_database_make(struct cli *cli);

#endif
