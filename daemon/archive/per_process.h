/* SPDX-License-Identifier: GPL-2.0-only */
/* Selection of images that get a profile per process. */
#ifndef DCPI_PER_PROCESS_H
#define DCPI_PER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * per_process_match() - return true if an image is selected
 * @list: NULL, "" or "none": no image; "all"; otherwise patterns separated by blanks, as for
 *        path_match()
 * @path: of the image
 */
bool per_process_match(const char *list, const char *path);

/**
 * per_process_next() - return the next pattern of a list
 * @list:    out: the rest of it
 * @pattern: out: buffer of size @bytes; longer patterns are skipped
 *
 * Return: false if there are no more.
 */
bool per_process_next(const char **list, char *pattern, size_t bytes);

#endif
