/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The acyclic paths of a procedure, numbered (Ball and Larus, "Efficient path profiling",
 * 1996): values on the ways of its graph whose sum along each path is the path's number,
 * and what code must do on each way so that a register holds the sum where a path ends.
 *
 * Where only one way leads from the beginnings of paths to a node the sum is known when
 * the code is made: there the register is not needed. The others' increments are on the
 * chords of a maximum spanning forest: what is added to the register on a way is its value
 * plus the difference of numbers given to its ends, which can be chosen so that it is
 * nothing on the forest.
 *
 * Where a path can only go one way on to its end it may be counted before that (struct
 * path_rules, early): so the register is not needed where several ways meet behind which
 * nothing is left to choose.
 *
 * A register can be another one's where a path ends: a handler of a signal came in between
 * and called the same procedure. What the end makes of that is in a range that is known, so
 * who has room for all of it (struct path_range) need not look whether it is a path's.
 */
#ifndef DCPI_INSTRUMENT_PATH_GRAPH_H
#define DCPI_INSTRUMENT_PATH_GRAPH_H

#include "instrument/mode/count_graph.h"

#define PATH_NONE UINT32_MAX
#define PATH_IN_MEMORY 0
#define PATH_COUNT_MAX (UINT32_C(1) << 28)

/** enum path_way_kind - what a way is. */
enum path_way_kind {
	PATH_ON,    /* the path goes on */
	PATH_CUT,   /* it ends, and another one begins at the node that the way leads to */
	PATH_END,   /* it ends, and none begins */
	PATH_START, /* one begins, and none has ended */
};

/** enum path_change - what is to become of the register on a way. */
enum path_change {
	PATH_KEEP,
	PATH_SET, /* to a number */
	PATH_ADD,
};

/**
 * struct path_way - a way from node to node; numbers are modulo 2^32
 * @from, @to: nodes; PATH_NONE: of PATH_START, PATH_END
 * @edge:    of the count_graph, or that before a call which is passed
 * @back:    then that behind it; PATH_NONE: no call
 * @value:   added to the path's number; of PATH_CUT, PATH_END: as the path's last one
 * @counted: PATH_ON: no path is counted here; else one is, that ends or will end so
 * @end_known: then its number is @end; else @end plus the register
 * @change:  of the register (of PATH_CUT, after that), by @number
 * @enters:  of PATH_START: the procedure is called
 * @reads, @writes: where the number is before, and behind (path_webs.h): PATH_IN_MEMORY, or a
 *           register of the processor
 * @takes:   the word is changed there, and may be what it was when the procedure was called
 * @leaves:  the procedure is left, and the word may have been changed
 * @empty:   the paths that it ends have no code: each is a hub's, that all paths are cut before.
 *           They are not counted
 * @weight:  how often it is thought to be gone
 */
struct path_way {
	uint32_t from;
	uint32_t to;
	uint32_t edge;
	uint32_t back;
	uint32_t value;
	uint32_t end;
	uint32_t number;
	enum path_way_kind kind;
	enum path_way_kind counted;
	enum path_change change;
	bool end_known;
	bool enters;
	uint8_t reads;
	uint8_t writes;
	bool takes;
	bool leaves;
	bool empty;
	double weight;
};

/** struct path_start - a node where paths begin, and the number of the first of them. */
struct path_start {
	uint32_t node;
	uint32_t number;
};

/**
 * struct path_range - what ends of paths find if the register need not be right
 * @below:   how far below 0 that may be
 * @room:    numbers in all, from -@below on; of paths are those from 0 to the graph's @count
 * @nowhere: for a register that is no path's: whatever is added to it and where it ends, it
 *           is in the range, and no path's
 * @least, @most: what the register can be, whosoever it is
 */
struct path_range {
	uint32_t below;
	uint32_t room;
	uint32_t nowhere;
	int64_t least;
	int64_t most;
};

/**
 * struct path_graph - zero-initialised is empty; freed by path_graph_deinit()
 * @ways:   those out of node n are @ways[@first[n]] .. @ways[@first[n + 1] - 1], of
 *          ascending value; PATH_START's are behind these of all nodes
 * @starts: ascending
 * @known:  of each node: the register is not needed there
 * @count:  of paths
 * @range:  as said
 */
struct path_graph {
	struct path_way *ways;
	uint32_t *first;
	struct path_start *starts;
	bool *known;
	uint32_t node_count;
	uint32_t way_count;
	uint32_t start_count;
	uint32_t count;
	struct path_range range;
	size_t way_capacity;
};

void path_graph_deinit(struct path_graph *graph);

/** path_graph_start() - the number of the first path that begins at a node, or PATH_NONE. */
uint32_t path_graph_start(const struct path_graph *graph, uint32_t node);

/**
 * path_graph_begin() - where a path begins
 * @number: of the path, less than the graph's @count
 * @rest:   out: for path_graph_next()
 *
 * Return: a node; PATH_NONE the graph has no such path.
 */
uint32_t path_graph_begin(const struct path_graph *graph, uint32_t number, uint32_t *rest);

/**
 * path_graph_next() - how a path goes on
 * @rest: updated; 0 when the path has ended
 *
 * Return: a way; PATH_NONE the graph has no such path. A graph that was read from a file
 * may go in circles: no path has more ways than the graph has nodes.
 */
uint32_t path_graph_next(const struct path_graph *graph, uint32_t node, uint32_t *rest);

#endif
