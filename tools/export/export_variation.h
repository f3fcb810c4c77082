/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exports of the variation of paths' times, as an instrumented program has recorded it (dcpix
 * --mode variation). Each path is a frame below that of its procedure, and its value is its net
 * variation.
 */
#ifndef DCPI_EXPORT_VARIATION_H
#define DCPI_EXPORT_VARIATION_H

#include "tools/report/cli.h"

struct exporter;

/** export_variation() - write the variation, with parameters as export_contexts() */
int export_variation(struct cli *cli, const struct exporter *exporter, const char *output);

#endif
