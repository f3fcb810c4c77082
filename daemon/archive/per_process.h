/* SPDX-License-Identifier: GPL-2.0-only */
/* Which images get a profile for each process. */
#ifndef DCPI_PER_PROCESS_H
#define DCPI_PER_PROCESS_H

#include <stdbool.h>

/**
 * per_process_match() - whether an image is asked for
 * @list: NULL, "" or "none": no image; "all"; else patterns (glob(7), "*"
 *        crosses "/") separated by blanks
 * @path: of the image
 */
bool per_process_match(const char *list, const char *path);

#endif
