/* SPDX-License-Identifier: GPL-2.0-only */
/* Folders of the user's for what can be made anew: $XDG_CACHE_HOME/dcpi, or ~/.cache/dcpi. */
#ifndef DCPI_CACHE_FOLDER_H
#define DCPI_CACHE_FOLDER_H

#include <stdint.h>

/**
 * cache_folder_path() - where things of a kind are kept
 * @what:     "symbols"
 * @variable: of the environment; if it is "off", nothing is kept
 *
 * Of a folder that is somebody else's (sudo), nothing is kept either. It is not made.
 *
 * Return: malloc'd, or NULL.
 */
char *cache_folder_path(const char *what, const char *variable);

/** cache_folder_make() - make the folders that a file is to be in; @path is as it was after. */
void cache_folder_make(char *path);

/** cache_folder_touch() - note, to the day, that an open file was used. */
void cache_folder_touch(int fd);

/**
 * cache_folder_expire() - forget files in the folder that a file is in
 * @bytes_max: the files that were used last, up to so many bytes, stay; 0: any number
 *
 * And none that was not used for 30 days.
 */
void cache_folder_expire(const char *path, uint64_t bytes_max);

#endif
