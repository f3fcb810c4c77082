/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef DCPI_DIRECTORY_H
#define DCPI_DIRECTORY_H

struct error;

/**
 * directory_make_parent() - make the folder that a file is to be in
 * @path: of the file
 *
 * Only the last folder is made, with mode 0755: /var/lib/dcpi, not /var/lib.
 * One that exists is left as it is.
 *
 * Return: 0; errors of mkdir(2).
 */
int directory_make_parent(const char *path, struct error *err);

#endif
