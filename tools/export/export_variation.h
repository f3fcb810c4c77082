/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exports of what paths' times vary by, as a rewritten program has recorded it (dcpix --mode
 * variation): each path is a frame below its procedure's, and what is measured is its net
 * variation.
 */
#ifndef DCPI_EXPORT_VARIATION_H
#define DCPI_EXPORT_VARIATION_H

#include "tools/report/cli.h"

struct exporter;

/** export_variation() - as export_contexts(). */
int export_variation(struct cli *cli, const struct exporter *exporter, const char *output);

#endif
