/* SPDX-License-Identifier: GPL-2.0-only */
/* A procedure's own words for paths that are known where they end (paths_map.h). */
#ifndef DCPI_INSTRUMENT_PATH_WORDS_H
#define DCPI_INSTRUMENT_PATH_WORDS_H

#include "instrument/paths/path_graph.h"

/**
 * struct path_words - zero-initialised is empty; freed by path_words_deinit()
 * @of:    of each way: the first word that what it ends is counted in; PATH_NONE: none is, it has
 *         a place in arrays, or ends nothing
 * @small: of each way: it is all of a small loop, and has MODE_LOOP_TURNS words, used by turns
 * @paths: the number of the path that each word is of, @count of them
 */
struct path_words {
	uint32_t *of;
	bool *small;
	uint32_t *paths;
	uint32_t count;
};

/**
 * path_words_find() - the likeliest first, so that what is used is in few lines of caches
 * @counts: that @graph was made of
 * @any:    false: there are none
 *
 * Return: 0 or -ENOMEM; in both cases @ret is to be freed.
 */
int path_words_find(struct path_words *ret, const struct path_graph *graph,
		    const struct count_graph *counts, bool any);

void path_words_deinit(struct path_words *words);

#endif
