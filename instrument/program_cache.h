/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs as they were rewritten before, in the user's cache: "dcpix run" of a program
 * that was run before begins at once.
 *
 * A program is known by its build-id, and by all else that what is made of it depends on:
 * its path, size and time, what was asked for, and who did it (the build-id of this
 * program). Those without build-ids are not kept. 512 MiB are kept at the most, and what
 * was not used for 30 days is forgotten. DCPIX_CACHE=off: nothing is kept.
 */
#ifndef DCPI_INSTRUMENT_PROGRAM_CACHE_H
#define DCPI_INSTRUMENT_PROGRAM_CACHE_H

#include <stdbool.h>

#include "instrument/copy/rewriter.h"

/**
 * struct program_cache - where a program is, or would be
 * @path:  NULL: it is not kept
 * @part:  where it is to be made
 * @text:  a file beside it, with what was told of its rewriting
 * @found: it is there
 */
struct program_cache {
	char *path;
	char *part;
	char *text;
	bool found;
};

/**
 * program_cache_find() - look for a program that was rewritten
 * @ret:     out; freed by program_cache_deinit()
 * @options: @output is not looked at
 */
void program_cache_find(struct program_cache *ret, const char *program,
			const struct rewriter_options *options);

/**
 * program_cache_keep() - move a program that was rewritten from @part to @path
 * @text: what is to be told of its rewriting
 *
 * Return: false: it stays where it is.
 */
bool program_cache_keep(struct program_cache *cache, const char *text);

void program_cache_deinit(struct program_cache *cache);

#endif
