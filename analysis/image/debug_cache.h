/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cache of files from debuginfod servers, in the layout that libdebuginfod uses too:
 * DIRECTORY/BUILD-ID/executable and debuginfo. DIRECTORY is DEBUGINFOD_CACHE_PATH, or else
 * debuginfod_client in XDG_CACHE_HOME or ~/.cache.
 *
 * A file gets its name only after it is complete and its build-id has been checked. Until then it
 * is unnamed, so that a killed program leaves no incomplete file.
 */
#ifndef DCPI_DEBUG_CACHE_H
#define DCPI_DEBUG_CACHE_H

#include "analysis/image/debug_server.h"

/** enum debug_cache_state - result of debug_cache_find() */
enum debug_cache_state {
	DEBUG_CACHE_UNKNOWN, /* ask the servers */
	DEBUG_CACHE_FOUND,
	DEBUG_CACHE_MISSING, /* a server said within the last ten minutes that it has none */
};

/**
 * debug_cache_find() - look for a file in the cache
 * @path: out, for DEBUG_CACHE_FOUND: malloc'd
 */
enum debug_cache_state debug_cache_find(const struct debug_server_request *request, char **path);

/** debug_cache_incoming() - create a file. Return: a descriptor of an unnamed file, or -errno. */
int debug_cache_incoming(const struct debug_server_request *request);

/**
 * debug_cache_put() - check a complete file and name it
 * @fd:   result of debug_cache_incoming(); owned by the caller
 * @path: out: malloc'd
 *
 * Return: 0; -EBADMSG if it is truncated or not an ELF file of that build-id; or another error.
 */
int debug_cache_put(const struct debug_server_request *request, int fd, char **path);

#endif
