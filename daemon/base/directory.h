/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCPI_DIRECTORY_H
#define DCPI_DIRECTORY_H

#include <sys/types.h>

struct error;

/**
 * directory_make_parent() - create the directory that will contain a file
 * @path:  of the file
 * @mode:  of the directory; independent of the umask
 * @group: of the directory, if the process is allowed to set it; -1: the process's group
 *
 * Only the last component is created: /var/lib/dcpi, not /var/lib. An existing directory is left
 * unchanged.
 *
 * Return: 0; errors of mkdir(2).
 */
int directory_make_parent(const char *path, mode_t mode, gid_t group, struct error *err);

#endif
