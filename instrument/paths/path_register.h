/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Determine the operation on the path register on each edge of a numbered path graph. Internal to
 * path_numbering.c.
 */
#ifndef DCPI_INSTRUMENT_PATH_REGISTER_H
#define DCPI_INSTRUMENT_PATH_REGISTER_H

#include "instrument/paths/path_graph.h"

/**
 * struct path_order - reachable nodes, each after its successors
 * @paths: for each node of the graph: number of paths from there on
 * @count: number of @nodes
 */
struct path_order {
	const uint32_t *nodes;
	const uint64_t *paths;
	uint32_t count;
};

/**
 * path_register_place() - fill in the operations of the edges, the known nodes, and the range
 * @early: paths may be counted before they end (struct path_rules)
 *
 * Return: 0 or -ENOMEM.
 */
int path_register_place(struct path_graph *graph, const struct path_order *order, bool early);

#endif
