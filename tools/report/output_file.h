/* SPDX-License-Identifier: GPL-2.0-only */
/* A tool's output, to stdout or to the file that --output names. */
#ifndef DCPI_OUTPUT_FILE_H
#define DCPI_OUTPUT_FILE_H

#include <stdio.h>

struct error;

/**
 * output_file_write() - write the output
 * @path:  of the file; NULL: stdout
 * @write: writes the contents. Return: 0 or -errno with @err set
 *
 * If a regular file could not be written completely, it is removed.
 *
 * Return: 0; the result of @write; or the error of open(2) or write(2).
 */
int output_file_write(const char *path, int (*write)(void *context, FILE *file, struct error *err),
		      void *context, struct error *err);

#endif
