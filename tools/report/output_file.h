/* SPDX-License-Identifier: GPL-2.0-only */
/* A tool's output, to stdout or to the file that --output names. */
#ifndef DCPI_OUTPUT_FILE_H
#define DCPI_OUTPUT_FILE_H

#include <stdio.h>

struct error;

/**
 * output_file_write() - write
 * @path:  of the file; NULL: stdout
 * @write: does it. Return: 0 or -errno with @err set
 *
 * A file (not a device) that could not be written whole is not left behind.
 *
 * Return: 0; what @write returned; or the error of open(2) or write(2).
 */
int output_file_write(const char *path, int (*write)(void *context, FILE *file, struct error *err),
		      void *context, struct error *err);

#endif
