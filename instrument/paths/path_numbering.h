/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finding the paths of a procedure and numbering them (path_graph.h).
 *
 * A path goes from where the procedure is entered, where an exception is caught or where
 * a way goes back, to where the procedure is left or a way goes back. Ways back are those
 * to a node that a search in depth, from the entries on, has not finished yet; in graphs
 * of loops with one entry there is no choice. Calls are passed. What else ends a path:
 *
 *	- if asked for, ways into loops, to nodes to which ways back lead,
 *	- calls that may come back twice, and system calls, which may come back as another
 *	  thread: a path ends before and another one begins behind,
 *	- indirect jumps of which some target is another procedure,
 *	- ways to parts with so many paths that the sum of all would exceed a limit: of a
 *	  node with more than some those ways are cut that cost least for what there is less,
 *	  the likeliest one last; of an indirect jump those that lead to it. All is done again
 *	  with less as long as the procedure has more than it may.
 */
#ifndef DCPI_INSTRUMENT_PATH_NUMBERING_H
#define DCPI_INSTRUMENT_PATH_NUMBERING_H

#include "instrument/paths/path_graph.h"

/**
 * struct path_rules - what ends a path
 * @breaks:  whether what ends a node, a call or an indirect jump, does; NULL: none does
 * @context: given to it
 * @most:    paths there may be, at most PATH_COUNT_MAX; a few more, if less cannot be
 * @part:    from each node on, to begin with; 0: as many
 * @loops:   ways into loops do
 * @early:   paths may be counted before they end, where all that is left is one way without
 *           calls
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
 * path_numbering_create() - number the paths and choose what is added where
 *
 * O(edges log edges). Return: 0; -ENOMEM; -ERANGE far too many edges.
 */
int path_numbering_create(struct path_graph *ret, const struct count_graph *graph,
			  const struct path_rules *rules);

#endif
