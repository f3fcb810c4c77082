/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCPI_DIRECTORY_H
#define DCPI_DIRECTORY_H

#include <sys/types.h>

struct error;

/**
 * directory_make_parent() - make the folder that a file is to be in
 * @path:  of the file
 * @mode:  of the folder; the umask does not change it
 * @group: of the folder, if the process may set it; -1: the process' group
 *
 * Only the last folder is made: /var/lib/dcpi, not /var/lib.
 * One that exists is left as it is.
 *
 * Return: 0; errors of mkdir(2).
 */
int directory_make_parent(const char *path, mode_t mode, gid_t group, struct error *err);

#endif
