/* SPDX-License-Identifier: GPL-2.0-only */
/* What the register of a numbered path graph must do on each way. Internal to path_numbering.c. */
#ifndef DCPI_INSTRUMENT_PATH_REGISTER_H
#define DCPI_INSTRUMENT_PATH_REGISTER_H

#include "instrument/paths/path_graph.h"

/**
 * struct path_order - nodes that are reached, each behind those that it leads to
 * @paths: of each node of the graph: how many go on from there
 * @count: of @nodes
 */
struct path_order {
	const uint32_t *nodes;
	const uint64_t *paths;
	uint32_t count;
};

/**
 * path_register_place() - fill in what the ways' code does, which nodes are known, the range
 * @early: paths may be counted before they end (struct path_rules)
 *
 * Return: 0 or -ENOMEM.
 */
int path_register_place(struct path_graph *graph, const struct path_order *order, bool early);

#endif
