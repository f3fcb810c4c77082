/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cache of rewritten programs, for each user: "dcpix run" of a program that was run before starts
 * without rewriting it.
 *
 * The key of a program consists of its build-id and everything else that the result depends on: its
 * path, size and time, the options, and the build-id of dcpix itself. Programs without a build-id
 * are not cached. The cache holds at most 512 MiB; programs that were not used for 30 days are
 * removed. DCPIX_CACHE=off disables the cache.
 */
#ifndef DCPI_INSTRUMENT_PROGRAM_CACHE_H
#define DCPI_INSTRUMENT_PROGRAM_CACHE_H

#include <stdbool.h>

#include "instrument/clone/rewriter.h"

/**
 * struct program_cache - position of a program in the cache
 * @path:  NULL: it cannot be cached
 * @part:  path for writing it
 * @text:  path of a file next to it, with the report of its rewriting
 * @found: it is in the cache
 */
struct program_cache {
	char *path;
	char *part;
	char *text;
	bool found;
};

/**
 * program_cache_find() - look a rewritten program up
 * @ret:     out; freed by program_cache_deinit()
 * @options: of the rewriting, without @output
 */
void program_cache_find(struct program_cache *ret, const char *program,
			const struct rewriter_options *options);

/**
 * program_cache_keep() - move a rewritten program from @part to @path
 * @text: report of its rewriting
 *
 * Return: false if it stays where it is.
 */
bool program_cache_keep(struct program_cache *cache, const char *text);

void program_cache_deinit(struct program_cache *cache);

#endif
