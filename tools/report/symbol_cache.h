/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Indexes of images' symbols, stored under the user's cache directory, one file per build-id:
 *
 *	~/.cache/dcpi/symbols/ab/cdef0123...
 *
 * An index yields the same names as the image. It is used only for the path for which it was made,
 * and only while the image and all files that contain or could contain its symbols are unchanged.
 * If files in different databases have the same build-id, the one opened last has the index. An
 * index that has not been used for a month is removed when others are stored.
 */
#ifndef DCPI_SYMBOL_CACHE_H
#define DCPI_SYMBOL_CACHE_H

#include "analysis/image/procedure_table.h"

/**
 * symbol_cache_directory() - return the directory of indexes, under XDG_CACHE_HOME or else ~/.cache
 *
 * There is none if the directory belongs to another user (sudo(8) may leave HOME unchanged), or
 * with DCPI_SYMBOL_CACHE=off in the environment.
 *
 * Return: malloc'd; NULL if there is none, or out of memory.
 */
char *symbol_cache_directory(void);

/**
 * symbol_cache_open() - open a procedure table from an index, and store the index if it is missing
 * @options: @cache: directory of the indexes; if NULL, or with @debuginfod, the call is equivalent
 *           to procedure_table_open()
 *
 * A table from an index has no procedure_table_image(). Failure to make an index is not an error.
 *
 * Return: as procedure_table_open().
 */
int symbol_cache_open(struct procedure_table **ret, const struct profile_image *image,
		      const struct debug_file_options *options, struct error *err);

/**
 * symbol_cache_open_index() - open an index that only this user could write
 * @directory: of symbol_cache_directory(); NULL: there is none
 * @path:      hostile input: rejected unless it is the path of an index under @directory
 *
 * Return: a descriptor, or -errno.
 */
int symbol_cache_open_index(const char *directory, const char *path);

/**
 * symbol_cache_store_index() - make or replace an index
 * @path:     hostile input: rejected unless it is the path of an index under @directory
 * @contents: descriptor of a file with the contents
 */
int symbol_cache_store_index(const char *directory, const char *path, int contents);

#endif
