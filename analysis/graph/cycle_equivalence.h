/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cycle equivalence of the edges of a graph: Johnson, Pearson and Pingali, "The program
 * structure tree", PLDI 1994, section 3. Two edges are equivalent if each cycle through
 * one goes through the other.
 *
 * The algorithm is for undirected graphs; in a strongly connected graph, directed cycles
 * give the same classes (their theorem 6).
 */
#ifndef DCPI_CYCLE_EQUIVALENCE_H
#define DCPI_CYCLE_EQUIVALENCE_H

#include <stdint.h>

/** struct graph_edge - nodes 0 .. n - 1; parallel edges and self loops are fine. */
struct graph_edge {
	uint32_t from;
	uint32_t to;
};

/**
 * cycle_equivalence_find() - find the classes of all edges that are reachable from a node
 * @classes: out: one for each edge, numbered from 0; unchanged for unreachable edges. Each edge
 *           that is on no cycle (a bridge) is a class of its own.
 *
 * O(nodes + edges), without recursion.
 *
 * Return: 0 or -ENOMEM.
 */
int cycle_equivalence_find(uint32_t *classes, uint32_t node_count, const struct graph_edge *edges,
			   uint32_t edge_count, uint32_t root);

#endif
