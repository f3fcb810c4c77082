/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Indexes of images' symbols, kept under the user's cache directory, a file a build-id:
 *
 *	~/.cache/dcpi/symbols/ab/cdef0123...
 *
 * Names never differ from those that the image gives: an index is used only for the path that
 * it was made for, while the image, and all files where its symbols were or might have been,
 * are as they were. Of files that have a build-id in common, in different databases, the one
 * that was looked at last has the index. What nobody has asked for in a month goes, when
 * others come.
 */
#ifndef DCPI_SYMBOL_CACHE_H
#define DCPI_SYMBOL_CACHE_H

#include "analysis/image/procedure_table.h"

/**
 * symbol_cache_directory() - where indexes are: under XDG_CACHE_HOME, or else ~/.cache
 *
 * Not if that is another user's (sudo(8) may leave HOME as it was), nor with
 * DCPI_SYMBOL_CACHE=off in the environment.
 *
 * Return: malloc'd; NULL if there is none, or out of memory.
 */
char *symbol_cache_directory(void);

/**
 * symbol_cache_open() - as procedure_table_open(), from an index if there is one, which else
 * is made
 * @options: @cache says where; with NULL, or @debuginfod, it is procedure_table_open()
 *
 * A table from an index has no procedure_table_image(). An index that cannot be made is no
 * failure.
 */
int symbol_cache_open(struct procedure_table **ret, const struct profile_image *image,
		      const struct debug_file_options *options, struct error *err);

/**
 * symbol_cache_open_index() - open an index that only this user could write
 * @directory: of symbol_cache_directory(); NULL: there is none
 * @path:      hostile: an index is there only if it is a name of an index under @directory
 *
 * Return: a descriptor, or -errno.
 */
int symbol_cache_open_index(const char *directory, const char *path);

/**
 * symbol_cache_store_index() - make or replace an index
 * @path:     hostile, in the same way
 * @contents: a file
 */
int symbol_cache_store_index(const char *directory, const char *path, int contents);

#endif
