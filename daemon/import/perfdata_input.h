/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the file or files of a recording. perf record --threads writes a directory: a file "data"
 * like that of any recording, and files "data.0", "data.1", ... that have records only. They are
 * copied into one temporary file, one after another, since a process in a sandbox cannot open
 * files.
 */
#ifndef DCPI_PERFDATA_INPUT_H
#define DCPI_PERFDATA_INPUT_H

#include <stddef.h>
#include <stdint.h>

struct error;

/* Maximum number of files of a directory: perf has a thread for each CPU at most. */
#define PERFDATA_PARTS_MAX 8192

/**
 * struct perfdata_input - a recording; freed by perfdata_input_close()
 * @fd:    a regular file
 * @ends:  for a directory, where its files end in @fd, beginning with "data"; else NULL
 * @count: number of @ends
 */
struct perfdata_input {
	int fd;
	uint64_t *ends;
	size_t count;
};

/**
 * perfdata_input_open() - open a recording, without parsing it
 * @path: of the file or directory; "-": standard input
 *
 * Return: 0; -EMEDIUMTYPE: another kind of file, or a directory of other files; errors of open(2).
 */
int perfdata_input_open(struct perfdata_input *ret, const char *path, struct error *err);

void perfdata_input_close(struct perfdata_input *input);

#endif
