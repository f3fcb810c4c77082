/* SPDX-License-Identifier: GPL-2.0-only */
/* Exports of sampled call stacks, in the formats that have contexts (export_contexts.h). */
#ifndef DCPI_EXPORT_STACKS_H
#define DCPI_EXPORT_STACKS_H

struct cli;
struct exporter;

/**
 * export_stacks() - write the stacks that the command line selects
 * @exporter: one that has write_contexts
 * @output:   NULL: stdout
 *
 * Return: the status to exit with; errors are printed.
 */
int export_stacks(struct cli *cli, const struct exporter *exporter, const char *output);

#endif
