/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports run in a sandbox, because others wrote all their input.
 *
 * A report consists of two processes. The process that the user started keeps its privileges and
 * parses nothing. It opens files for the report (file_broker.h), passes on the report's output, and
 * restarts the report without a file whose parsing failed. Its child is the report.
 */
#ifndef DCPI_SANDBOXED_H
#define DCPI_SANDBOXED_H

#include <stdbool.h>

#include "tools/report/cli.h"
#include "tools/report/file_broker.h"

/**
 * struct sandboxed_options - zero-initialised: for a report that prints and ends
 * @access: grants of the broker besides files to read
 * @live:   output is passed on immediately. Otherwise up to 1 MiB is held until the report ends, so
 *          that the report can be restarted.
 * @screen: the report gets the terminal directly; called to restore the terminal after the report
 *          has crashed. NULL: the report does not get it.
 */
struct sandboxed_options {
	struct file_broker_access access;
	bool live;
	void (*screen)(void);
};

/**
 * sandboxed_start() - continue in a sandbox
 * @options: NULL: all zero
 *
 * Returns in the report's process only; the other process exits with the report's status. Prints a
 * warning if the kernel has no seccomp.
 *
 * Return: CLI_RUN, or the status to exit with.
 * Context: call before threads are created.
 */
int sandboxed_start(const struct cli *cli, const struct sandboxed_options *options);

#endif
