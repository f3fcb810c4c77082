/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the paths of a procedure and number them (path_graph.h).
 *
 * A path begins where the procedure is entered, where an exception is caught, or after a back edge.
 * It ends where the procedure is left, or with a back edge. Back edges are edges to a node that a
 * depth-first search from the entries has not finished yet; in graphs of loops with one entry they
 * are unique. A path continues over calls. In addition, the following end a path:
 *
 *	- if requested, edges into loops, that is, to targets of back edges
 *	- calls that may return twice, and system calls, which may return in another
 *	  thread: a path ends before the call and another one begins after it
 *	- indirect jumps with a target in another procedure
 *	- edges to parts with so many paths that the total would exceed a limit. At a
 *	  node with too many paths, the edges with the lowest ratio of execution count to
 *	  saved paths are cut first, and the most executed edge last. At an indirect jump,
 *	  the edges to it are cut. This is repeated with a lower limit per node while the
 *	  procedure has too many paths.
 */
#ifndef DCPI_INSTRUMENT_PATH_NUMBERING_H
#define DCPI_INSTRUMENT_PATH_NUMBERING_H

#include "instrument/paths/path_graph.h"

/**
 * struct path_rules - conditions that end a path
 * @breaks:  return true if the call or indirect jump at the end of a node ends a path; NULL: none
 * @context: passed to @breaks
 * @most:    limit of the number of paths, at most PATH_COUNT_MAX; slightly exceeded if unavoidable
 * @part:    initial limit of the paths from each node on; 0: the same as @most
 * @loops:   edges into loops end a path
 * @early:   paths may be counted before their end if only one continuation without calls is
 *           left
 */
struct path_rules {
	bool (*breaks)(void *context, uint32_t node);
	void *context;
	uint32_t most;
	uint32_t part;
	bool loops;
	bool early;
};

/**
 * path_numbering_create() - number the paths and choose the increments
 *
 * O(edges log edges). Return: 0; -ENOMEM; -ERANGE far too many edges.
 */
int path_numbering_create(struct path_graph *ret, const struct count_graph *graph,
			  const struct path_rules *rules);

#endif
