/* SPDX-License-Identifier: GPL-2.0-only */
/* Which images get a profile for each process. */
#ifndef DCPI_PER_PROCESS_H
#define DCPI_PER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * per_process_match() - whether an image is asked for
 * @list: NULL, "" or "none": no image; "all"; else patterns separated by blanks,
 *        each as for path_match()
 * @path: of the image
 */
bool per_process_match(const char *list, const char *path);

/**
 * per_process_next() - the next pattern of a list
 * @list:    out: the rest of it
 * @pattern: out: @bytes of room; longer patterns are skipped
 *
 * Return: false if there is no other.
 */
bool per_process_next(const char **list, char *pattern, size_t bytes);

#endif
