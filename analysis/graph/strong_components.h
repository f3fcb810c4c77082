/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strongly connected components of a directed graph, by the algorithm of Tarjan,
 * "Depth-first search and linear graph algorithms", 1972, without recursion.
 */
#ifndef DCPI_STRONG_COMPONENTS_H
#define DCPI_STRONG_COMPONENTS_H

#include <stdint.h>

/**
 * struct strong_graph - a graph; the arrays are the caller's
 * @first:   targets[first[n]] .. targets[first[n + 1] - 1] are node n's; @nodes + 1 of them
 * @targets: nodes; UINT32_MAX is an edge to nowhere
 */
struct strong_graph {
	const uint32_t *first;
	const uint32_t *targets;
	uint32_t nodes;
};

/**
 * strong_components_find() - O(nodes + edges)
 * @of_node: out: component of each node; numbered from 0 in reverse topological order, so
 *           that edges between components lead to lower numbers
 * @count:   out: components
 *
 * Return: 0 or -ENOMEM.
 */
int strong_components_find(uint32_t *of_node, uint32_t *count, const struct strong_graph *graph);

#endif
