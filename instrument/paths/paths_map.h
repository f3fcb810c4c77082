/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the words of an image that was rewritten to count paths mean: for each procedure
 * its nodes, and the ways between them with their values (path_graph.h). It is kept in
 * the rewritten file, in a section that is not loaded.
 *
 * A procedure's words (mode.h): some of fixed meaning (enum paths_word), and one for each place
 * where the path that ends is known when the code is made, or MODE_LOOP_TURNS of them, for loops
 * that are there as often. Somewhere else, if it has at most PATHS_ARRAY_MAX paths, arrays (enum
 * paths_array) of the range of its paths' numbers (path_graph.h): what is there of numbers that
 * no path has was lost. Arrays are large, and of most of their words nothing ever is: all
 * procedures' other words are together, in front of all arrays, so that what runs needs few lines
 * of caches and pages for them. Paths of other procedures are counted in a table that all share,
 * the thread's area: PATHS_TABLE_ENTRIES and PATHS_TABLE_PROBES more of paths_entry.
 *
 * What is decoded may come from anywhere.
 */
#ifndef DCPI_INSTRUMENT_PATHS_MAP_H
#define DCPI_INSTRUMENT_PATHS_MAP_H

#include "instrument/counts/counts_map.h"
#include "instrument/paths/path_graph.h"

struct error;

#define PATHS_MAP_SECTION ".dcpix.paths"

#define PATHS_ARRAY_MAX 8192
/* Words of an image: above, paths of procedures with more are not cut, and have the table. */
#define PATHS_ROOM_DEFAULT (UINT32_C(1) << 26)
#define PATHS_TABLE_ENTRIES 65536
#define PATHS_TABLE_PROBES 16
#define PATHS_TABLE_BYTES ((PATHS_TABLE_ENTRIES + PATHS_TABLE_PROBES) * sizeof(struct paths_entry))

/* Checks between two bursts, and of one, if a metric is measured in bursts. */
#define PATHS_CHECKS_DEFAULT 10000
#define PATHS_BURST_DEFAULT 100

/**
 * enum paths_word - of each procedure, but only the first one if it has arrays
 * @PATHS_ENTERED:  times that a path began without another one's end: calls of it, first of
 *                  all. Counted only if it calls others: else no path can be left unfinished
 * @PATHS_LOST_END: paths of the table whose number was lost, where none begins
 * @PATHS_LOST_CUT: the same, where another one begins
 * @PATHS_OVERFLOW: paths for which the table had no room
 */
enum paths_word {
	PATHS_ENTERED,
	PATHS_LOST_END,
	PATHS_LOST_CUT,
	PATHS_OVERFLOW,
	PATHS_WORDS,
};

/**
 * enum paths_array - of each procedure with arrays
 * @PATHS_ENDED:  how often each path went that ends where none begins
 * @PATHS_CUT:    the same, where another one begins
 * @PATHS_METRIC: more than these, with a metric: sums of @PATHS_ENDED, then of @PATHS_CUT
 * @PATHS_TIMED: more than these, if it is measured in bursts: how many are in the sums
 */
enum paths_array {
	PATHS_ENDED,
	PATHS_CUT,
	PATHS_METRIC,
	PATHS_TIMED = 2 * PATHS_METRIC,
	PATHS_ARRAYS = 3 * PATHS_METRIC,
};

/**
 * struct paths_entry - of the table
 * @key: number of the procedure in the map + 1, above 32 bits of a path's number; 0: free
 */
struct paths_entry {
	uint64_t key;
	uint64_t count;
	uint64_t metric;
	uint64_t timed;
};

/**
 * struct paths_procedure - a procedure
 * @nodes: @graph.node_count of them
 * @graph: as far as it says which path a number is (PATH_START's are left out)
 * @first_word: of the image; @first_array: the first word of arrays, if there are any
 * @calls: it calls others
 * @own: the number of the path that each word behind the fixed ones is of, @own_count of them
 */
struct paths_procedure {
	uint64_t address;
	const char *name;
	struct counts_node *nodes;
	struct path_graph graph;
	uint64_t first_word;
	uint64_t first_array;
	bool calls;
	uint32_t *own;
	uint32_t own_count;
};

/**
 * struct paths_map - zero-initialised is empty; freed by paths_map_deinit()
 * @image:  number that the rewritten file's profiles have too
 * @path, @build_id: of the file it was made of; the build-id in hexadecimal
 * @metric: what was measured, "": nothing but frequency
 * @timed:  paths were timed, one for each @checks checks (0: all), and there are no words;
 *          else they were counted
 * @burst:  if they were counted: checks of a burst in which they were timed, too, after @checks
 *          without; 0: they always were, if there is a metric
 * @words:  of the image
 * @words_in_front: of these, in front of all arrays; while it is made
 */
struct paths_map {
	uint64_t image;
	char *path;
	char *build_id;
	char *metric;
	bool timed;
	uint32_t checks;
	uint32_t burst;
	uint64_t words;
	uint64_t words_in_front;
	struct paths_procedure *procedures;
	size_t procedure_count;
	size_t procedure_capacity;
};

void paths_map_deinit(struct paths_map *map);

/**
 * paths_map_add() - add a procedure; its number is @map->procedure_count before
 * @counts: what @graph was made of
 * @like: its words, whether it calls, and what has words of its own: copied
 *
 * Return: 0 or -ENOMEM; then the map can only be freed.
 */
int paths_map_add(struct paths_map *map, const char *name, uint64_t address,
		  const struct count_graph *counts, const struct path_graph *graph,
		  const struct paths_procedure *like);

/** paths_map_is_array() - whether a procedure's paths have words of their own. */
bool paths_map_is_array(const struct path_graph *graph);

/** paths_map_fixed() - how many of a procedure's words have a fixed meaning. */
uint32_t paths_map_fixed(const struct path_graph *graph);

/** paths_map_array() - the word for path 0 in an array, from the procedure's first array on. */
uint64_t paths_map_array(const struct path_graph *graph, enum paths_array array);

/** paths_map_arrays() - words of all arrays of a procedure of @map. */
uint64_t paths_map_arrays(const struct paths_map *map, const struct path_graph *graph);

/** paths_map_table() - where the table is, in bytes from the area's begin. */
uint64_t paths_map_table(const struct paths_map *map);

/** paths_map_encode() - @ret: out, malloc'd. Return: 0 or -ENOMEM. */
int paths_map_encode(const struct paths_map *map, uint8_t **ret, size_t *bytes);

/** paths_map_decode() - Return: 0; -EBADMSG damaged; -EPROTO of a newer version; -ENOMEM. */
int paths_map_decode(struct paths_map *ret, const uint8_t *data, size_t bytes);

/** paths_map_read() - decode a section of a rewritten file. Return: also -ENODATA it is none. */
int paths_map_read(struct paths_map *ret, const char *path, const char *section, struct error *err);

#endif
