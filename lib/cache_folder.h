/* SPDX-License-Identifier: GPL-2.0-only */
/* Folders of the user for files that can be rebuilt: $XDG_CACHE_HOME/dcpi, or ~/.cache/dcpi. */
#ifndef DCPI_CACHE_FOLDER_H
#define DCPI_CACHE_FOLDER_H

#include <stdint.h>

/**
 * cache_folder_path() - return the folder for files of one kind
 * @what:     "symbols"
 * @variable: environment variable; if its value is "off", nothing is cached
 *
 * Nothing is cached either if another user owns the base folder (sudo). The folder is not created.
 *
 * Return: malloc'd, or NULL.
 */
char *cache_folder_path(const char *what, const char *variable);

/** cache_folder_make() - create the folders of a file; @path is restored before the return */
void cache_folder_make(char *path);

/** cache_folder_touch() - record, to the day, that an open file was used. */
void cache_folder_touch(int fd);

/**
 * cache_folder_expire() - remove old files from the folder of a file
 * @bytes_max: keep the most recently used files up to a total of @bytes_max bytes; 0: no limit
 *
 * Files that have not been used for 30 days are removed, too.
 */
void cache_folder_expire(const char *path, uint64_t bytes_max);

#endif
