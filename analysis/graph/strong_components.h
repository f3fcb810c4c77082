/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strongly connected components of a directed graph, by the algorithm of Tarjan,
 * "Depth-first search and linear graph algorithms", 1972, without recursion.
 */
#ifndef DCPI_STRONG_COMPONENTS_H
#define DCPI_STRONG_COMPONENTS_H

#include <stdint.h>

/**
 * struct strong_graph - a graph; the caller owns the arrays
 * @first:   node n's targets are targets[first[n]] .. targets[first[n + 1] - 1]; @nodes + 1
 *           elements
 * @targets: nodes; UINT32_MAX is an edge to nowhere
 */
struct strong_graph {
	const uint32_t *first;
	const uint32_t *targets;
	uint32_t nodes;
};

/**
 * strong_components_find() - find the components of a graph, O(nodes + edges)
 * @of_node: out: component of each node, numbered from 0 in reverse topological order: edges
 *           between components lead to lower numbers
 * @count:   out: number of components
 *
 * Return: 0 or -ENOMEM.
 */
int strong_components_find(uint32_t *of_node, uint32_t *count, const struct strong_graph *graph);

#endif
