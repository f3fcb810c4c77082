/* SPDX-License-Identifier: GPL-2.0-only */
/* The counts of a database in Prometheus' text format 0.0.4. */
#ifndef DCPI_DATABASE_METRICS_H
#define DCPI_DATABASE_METRICS_H

#include <stdio.h>

struct cli;
struct error;

/**
 * database_metrics_print() - print the counts of all epochs of the database that @cli names
 *
 * A database without samples has counts of zero. Return: 0, -ENOMEM, or the reader's error.
 */
int database_metrics_print(FILE *stream, struct cli *cli, struct error *err);

#endif
