/* SPDX-License-Identifier: GPL-2.0-only */
/* Exports of execution counts of one image, by analysing its procedures. */
#ifndef DCPI_EXPORT_FLOW_H
#define DCPI_EXPORT_FLOW_H

#include "tools/report/cli.h"

struct exporter;

/**
 * export_flow() - analyse the image that the command line selects, and write its counts
 * @exporter: one that has write_flow
 * @output:   NULL: stdout
 *
 * Return: the status to exit with; errors are printed.
 */
int export_flow(struct cli *cli, const struct exporter *exporter, const char *output);

#endif
