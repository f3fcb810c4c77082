/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The meaning of the words of an image that was rewritten to count paths. For each procedure, the
 * map has the nodes of its path graph, and the edges with their values. The map is stored in the
 * rewritten file, in a section that the program does not use.
 *
 * A procedure has these words:
 * - Some words of fixed meaning (enum paths_word).
 * - A word for each place where a path with a number known at rewriting time ends. Small loops
 *   have MODE_LOOP_UNROLL words, used in rotation.
 * - For other places, if it has at most PATHS_ARRAY_MAX paths: arrays (enum paths_array) over the
 *   range of its paths' numbers. Counts of numbers that no path has are lost paths.
 *
 * Arrays are large, and most of their words are never used. So the other words of all procedures
 * are together, before all arrays, and occupy few cache lines and pages. Paths of procedures
 * without arrays are counted in a table that all procedures share, in the thread's area. The table
 * has PATHS_TABLE_ENTRIES entries of struct paths_entry, and PATHS_TABLE_PROBES more. Paths in
 * contexts (flow/flow_mode.h) are all counted in another table.
 *
 * Decoded data is not trusted.
 */
#ifndef DCPI_INSTRUMENT_PATHS_MAP_H
#define DCPI_INSTRUMENT_PATHS_MAP_H

#include "instrument/counts/counts_map.h"
#include "instrument/paths/path_graph.h"

struct error;
struct machine_code;
struct paths_places;
struct point;

typedef void (*paths_end_fn)(struct machine_code *code, const struct point *point,
			     const struct paths_places *places, const struct path_edge *path_edge);

#define PATHS_MAP_SECTION ".dcpix.paths"

#define PATHS_ARRAY_MAX 8192
/*
 * Maximum number of an image's words. Beyond it, procedures with more paths are not cut to get
 * arrays, and use the table.
 */
#define PATHS_ROOM_DEFAULT (UINT32_C(1) << 26)
#define PATHS_TABLE_ENTRIES 65536
#define PATHS_TABLE_PROBES 16
#define PATHS_TABLE_BYTES ((PATHS_TABLE_ENTRIES + PATHS_TABLE_PROBES) * sizeof(struct paths_entry))

/* Checks between two bursts, and checks in a burst, if a metric is measured in bursts. */
#define PATHS_CHECKS_DEFAULT 200000
#define PATHS_BURST_DEFAULT 4000

/**
 * enum paths_word - words of each procedure; with arrays only the first one
 * @PATHS_ENTERED:  number of paths that began without the end of another one, mostly calls of the
 *                  procedure. Counted only if it calls others: else no path can be unfinished
 * @PATHS_LOST_END: paths of the table whose number was lost, at an end where no path begins
 * @PATHS_LOST_CUT: the same, at an end where another path begins
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
 * enum paths_array - arrays of each procedure that has arrays
 * @PATHS_ENDED:  executions of each path that end where no path begins
 * @PATHS_CUT:    executions that end where another path begins
 * @PATHS_METRIC: if the time of each path is measured, in addition: sums for @PATHS_ENDED, then for
 *               @PATHS_CUT
 */
enum paths_array {
	PATHS_ENDED,
	PATHS_CUT,
	PATHS_METRIC,
	PATHS_ARRAYS = 2 * PATHS_METRIC,
};

/**
 * struct paths_entry - an entry of the table
 * @key: number of the procedure in the map + 1 in the upper half, the path's number in the lower 32
 *       bits; 0: free
 */
struct paths_entry {
	uint64_t key;
	uint64_t count;
	uint64_t metric;
	uint64_t reserved;
};

/**
 * struct paths_procedure - a procedure
 * @nodes: @graph.node_count of them
 * @graph: the parts that map a number to a path (PATH_START edges are left out)
 * @first_word: index in the image; @first_array: the first word of arrays, if there are any
 * @calls: it calls others
 * @own: for each word after the fixed ones the number of its path, @own_count of them
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
 * @image:  number that is also in the rewritten file's profiles
 * @path, @build_id: of the original file; the build-id in hexadecimal
 * @metric: measured metric, "": only execution counts
 * @timed:  paths were timed, one in @checks checks (0: all), and there are no words;
 *          otherwise they were counted
 * @burst:  if they were counted: length of a burst in checks, in which they were timed, too, after
 *          @checks checks without timing; 0: always timed, if there is a metric
 * @contexts: offset in the area of the table of paths in contexts (calls/call_paths.h); 0: paths
 * are not distinguished by context
 * @words:  number of the image's words
 * @leading_words: number of words before all arrays; used while the map is built
 * @end:    with @contexts, used while the map is built: emits the code that counts a path
 */
struct paths_map {
	uint64_t image;
	char *path;
	char *build_id;
	char *metric;
	bool timed;
	uint32_t checks;
	uint32_t burst;
	uint32_t contexts;
	uint64_t words;
	uint64_t leading_words;
	paths_end_fn end;
	struct paths_procedure *procedures;
	size_t procedure_count;
	size_t procedure_capacity;
};

void paths_map_deinit(struct paths_map *map);

/**
 * paths_map_add() - add a procedure; its number is the previous @map->procedure_count
 * @counts: graph that @graph was built from
 * @like: its words, @calls and @own are copied
 *
 * Return: 0 or -ENOMEM; then the map can only be freed.
 */
int paths_map_add(struct paths_map *map, const char *name, uint64_t address,
		  const struct count_graph *counts, const struct path_graph *graph,
		  const struct paths_procedure *like);

/** paths_map_is_array() - return true if a procedure's paths are counted in arrays */
bool paths_map_is_array(const struct paths_map *map, const struct path_graph *graph);

/** paths_map_fixed() - return the number of a procedure's words with a fixed meaning */
uint32_t paths_map_fixed(const struct paths_map *map, const struct path_graph *graph);

/**
 * paths_map_array() - return the index of path 0 of an array, relative to the procedure's first
 * array
 */
uint64_t paths_map_array(const struct path_graph *graph, enum paths_array array);

/** paths_map_arrays() - return the number of words of all arrays of a procedure of @map */
uint64_t paths_map_arrays(const struct paths_map *map, const struct path_graph *graph);

/** paths_map_table() - return the offset of the table in the area, in bytes */
uint64_t paths_map_table(const struct paths_map *map);

/** paths_map_trace() - return the offset of the trace in the area (paths_trace.h), in bytes */
uint64_t paths_map_trace(const struct paths_map *map);

/** paths_map_encode() - encode a map. @ret: out, malloc'd. Return: 0 or -ENOMEM. */
int paths_map_encode(const struct paths_map *map, uint8_t **ret, size_t *bytes);

/** paths_map_decode() - decode. Return: 0; -EBADMSG damaged; -EPROTO newer version; -ENOMEM. */
int paths_map_decode(struct paths_map *ret, const uint8_t *data, size_t bytes);

/**
 * paths_map_read() - decode a section of a rewritten file. Return: as paths_map_decode(); -ENODATA
 * the file has no such section.
 */
int paths_map_read(struct paths_map *ret, const char *path, const char *section, struct error *err);

#endif
