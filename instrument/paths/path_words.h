/* SPDX-License-Identifier: GPL-2.0-only */
/* A procedure's separate words for paths whose number is known where they end (paths_map.h). */
#ifndef DCPI_INSTRUMENT_PATH_WORDS_H
#define DCPI_INSTRUMENT_PATH_WORDS_H

#include "instrument/paths/path_graph.h"

/**
 * struct path_words - zero-initialised is empty; freed by path_words_deinit()
 * @of:    for each edge: the first word in which the path ending there is counted; PATH_NONE: no
 *         word, because arrays are used, or no path ends
 * @small: for each edge: it is a complete small loop, and has MODE_LOOP_UNROLL words, used in
 *         rotation
 * @paths: for each word the number of its path, @count of them
 */
struct path_words {
	uint32_t *of;
	bool *small;
	uint32_t *paths;
	uint32_t count;
};

/**
 * path_words_find() - assign words, the likeliest first, so that the used ones are on few cache
 * lines
 * @counts: graph that @graph was built from
 * @any:    false: assign no words
 *
 * Return: 0 or -ENOMEM; in both cases @ret is to be freed.
 */
int path_words_find(struct path_words *ret, const struct path_graph *graph,
		    const struct count_graph *counts, bool any);

void path_words_deinit(struct path_words *words);

#endif
