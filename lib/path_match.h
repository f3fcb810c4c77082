/* SPDX-License-Identifier: GPL-2.0-only */
/* Match files by the names that users give. */
#ifndef DCPI_PATH_MATCH_H
#define DCPI_PATH_MATCH_H

#include <stdbool.h>

/**
 * path_match() - return true if a pattern names a file
 * @path:    full path of the file
 * @pattern: fnmatch(3) pattern for the path or its last part; the path itself ("[bpf]"); or the
 *           path or last part of a symbolic link to the file ("redis-server")
 *
 * Links by their last part are looked for in the file's folder and in $PATH.
 */
bool path_match(const char *path, const char *pattern);

/** path_is_pattern() - return true if a pattern has special characters of fnmatch(3) */
bool path_is_pattern(const char *pattern);

/** path_names_file() - return true if a file has the path, or the name in $PATH */
bool path_names_file(const char *name);

#endif
