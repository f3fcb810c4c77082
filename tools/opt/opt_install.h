/* SPDX-License-Identifier: GPL-2.0-only */
/* dcpiopt install and rollback: put the optimised copy next to the original, or in its place. */
#ifndef DCPI_OPT_INSTALL_H
#define DCPI_OPT_INSTALL_H

#include <stdbool.h>

struct cli;

/* Appended to the path of the original. */
#define OPT_INSTALL_COPY ".dcpiopt"
#define OPT_INSTALL_ORIGINAL ".dcpi-original"

/**
 * opt_install() - install the copy as ORIGINAL.dcpiopt
 * @replace: then give it the original's name; the original is kept as ORIGINAL.dcpi-original
 * @force:   also if no gain has been measured
 *
 * The copy must have passed its check. Programs with set-user-ID, set-group-ID or file capabilities
 * are refused.
 *
 * Return: the status to exit with.
 */
int opt_install(struct cli *cli, const char *folder, bool replace, bool force);

/**
 * opt_rollback() - undo opt_install()
 *
 * A program that was updated after the installation is left alone.
 *
 * Return: the status to exit with; CLI_NOTHING: nothing is installed.
 */
int opt_rollback(struct cli *cli, const char *folder);

#endif
