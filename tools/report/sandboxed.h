/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports run in a sandbox, because all their input was written by others.
 *
 * A report is two processes. The process that the user started keeps its privileges and parses
 * nothing. It hands out files (file_broker.h), passes on the report's output, and starts the report
 * again without a file whose parsing failed. Its child is the report.
 */
#ifndef DCPI_SANDBOXED_H
#define DCPI_SANDBOXED_H

#include <stdbool.h>

#include "tools/report/cli.h"
#include "tools/report/file_broker.h"

/**
 * struct sandboxed_options - zero-initialised: of a report that prints and ends
 * @access: grants of the broker besides files to read
 * @live:   output is passed on as it comes. Otherwise up to 1 MiB of it waits for the report's
 *          end, so that the report can be started again.
 * @screen: the report has the terminal, and gets it without a detour; called to restore it after
 *          the report has crashed. NULL: it has not.
 */
struct sandboxed_options {
	struct file_broker_access access;
	bool live;
	void (*screen)(void);
};

/**
 * sandboxed_start() - go on in a sandbox
 * @options: NULL: all are 0
 *
 * Returns in the report's process only; the other one exits with the report's status. Prints a
 * warning if there is no seccomp.
 *
 * Return: CLI_RUN, or the status to exit with.
 * Context: before there are threads.
 */
int sandboxed_start(const struct cli *cli, const struct sandboxed_options *options);

#endif
