/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The acyclic paths of a procedure, numbered (Ball and Larus, "Efficient path profiling", 1996).
 * Each edge of the path graph has a value, so that the sum of the values along a path is the path's
 * number. Each edge also has an operation on the path register, so that the register holds the sum
 * where a path ends.
 *
 * Where a node can be reached from the beginnings of paths by only one path, the sum is known at
 * rewriting time, and the register is not needed. All other increments are on the chords of a
 * maximum spanning forest. The increment of an edge is its value plus the difference of numbers
 * assigned to its two nodes, which can be chosen so that the increment is zero on the forest.
 *
 * Where only one continuation is left, a path may be counted before its end (struct path_rules,
 * early). So the register is not needed after the last choice of a path, even if several edges meet
 * there.
 *
 * A register can be overwritten before a path ends, because a signal handler calls the same
 * procedure. The number computed at the end is then in a known range, so an array with room for the
 * whole range (struct path_range) needs no bounds check.
 */
#ifndef DCPI_INSTRUMENT_PATH_GRAPH_H
#define DCPI_INSTRUMENT_PATH_GRAPH_H

#include "instrument/mode/count_graph.h"

#define PATH_NONE UINT32_MAX
#define PATH_IN_MEMORY 0
#define PATH_COUNT_MAX (UINT32_C(1) << 28)

/** enum path_edge_kind - kinds of edges of the path graph */
enum path_edge_kind {
	PATH_ON,    /* the path continues */
	PATH_CUT,   /* the path ends, and another one begins at the target node */
	PATH_END,   /* the path ends, and none begins */
	PATH_START, /* a path begins, and none has ended */
};

/** enum path_change - operation on the path register on an edge */
enum path_change {
	PATH_KEEP,
	PATH_SET, /* to a number */
	PATH_ADD,
};

/**
 * struct path_edge - an edge of the path graph; numbers are modulo 2^32
 * @from, @to: nodes; PATH_NONE for PATH_START, PATH_END
 * @edge:    edge of the count_graph, or the edge before a call that the path continues over
 * @back:    in that case, the edge after the call; PATH_NONE: no call
 * @value:   added to the path's number; for PATH_CUT, PATH_END: as the path's last value
 * @counted: PATH_ON: no path is counted here; otherwise one is counted that ends, now or later,
 *           with an edge of this kind
 * @end_known: the number of the counted path is @end; otherwise it is @end plus the register
 * @change:  operation on the register (for PATH_CUT, after counting), with operand @number
 * @enters:  for PATH_START: the procedure is called
 * @reads, @writes: location of the number before and after the edge (path_webs.h):
 *           PATH_IN_MEMORY, or a register of the processor
 * @takes:   the word is changed on the edge, and may still have its value from the procedure's call
 * @leaves:  the procedure is left, and the word may have been changed
 * @empty:   the paths that end here have no code: each consists of a hub, before which all paths
 *           are cut. They are not counted
 * @weight:  estimated execution count
 */
struct path_edge {
	uint32_t from;
	uint32_t to;
	uint32_t edge;
	uint32_t back;
	uint32_t value;
	uint32_t end;
	uint32_t number;
	enum path_edge_kind kind;
	enum path_edge_kind counted;
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

/** struct path_start - a node where paths begin, and the number of its first path. */
struct path_start {
	uint32_t node;
	uint32_t number;
};

/**
 * struct path_range - range of the numbers computed at ends of paths, even with a wrong register
 * @below:   the range begins at -@below
 * @room:    size of the range; 0 .. @count - 1 of the graph are numbers of paths
 * @no_path: value for a register that belongs to no path. The number computed at any end after any
 *           increments is in the range, but no path's number.
 * @least, @most: bounds of the register's value, even if another activation has set it
 */
struct path_range {
	uint32_t below;
	uint32_t room;
	uint32_t no_path;
	int64_t least;
	int64_t most;
};

/**
 * struct path_graph - zero-initialised is empty; freed by path_graph_deinit()
 * @path_edges:   the edges out of node n are @path_edges[@first[n]] .. @path_edges[@first[n + 1] -
 * 1], in ascending order of value; PATH_START edges follow those of all nodes
 * @starts: in ascending order
 * @known:  for each node: the register is not needed there
 * @count:  number of paths
 * @range:  see struct path_range
 */
struct path_graph {
	struct path_edge *path_edges;
	uint32_t *first;
	struct path_start *starts;
	bool *known;
	uint32_t node_count;
	uint32_t path_edge_count;
	uint32_t start_count;
	uint32_t count;
	struct path_range range;
	size_t path_edge_capacity;
};

void path_graph_deinit(struct path_graph *graph);

/** path_graph_start() - return the number of the first path that begins at a node, or PATH_NONE. */
uint32_t path_graph_start(const struct path_graph *graph, uint32_t node);

/**
 * path_graph_begin() - find the node where a path begins
 * @number: number of the path, less than the graph's @count
 * @rest:   out: for path_graph_next()
 *
 * Return: a node; PATH_NONE the graph has no such path.
 */
uint32_t path_graph_begin(const struct path_graph *graph, uint32_t number, uint32_t *rest);

/**
 * path_graph_next() - find the next edge of a path
 * @rest: updated; 0 when the path has ended
 *
 * Return: an edge; PATH_NONE the graph has no such path. A graph that was read from a file may have
 * cycles: no path has more edges than the graph has nodes.
 */
uint32_t path_graph_next(const struct path_graph *graph, uint32_t node, uint32_t *rest);

#endif
