/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks and edges that must execute equally often (DCPI section 6.1.2): cycle equivalence after
 * Johnson, Pearson and Pingali ("The program structure tree", PLDI 1994). In the graph used, each
 * block is an edge of its own, and CFG_EXIT leads to the entry. Two blocks or edges are in one
 * class if and only if they are equal in every flow that the graph allows.
 *
 * Extension for code that never leaves (DCPI mentions one without describing it): each strongly
 * connected component without outgoing edges gets one virtual edge to the exit, a "stop". It begins
 * at the component's last latch, so that a loop's header and body stay equivalent.
 *
 * CFG_UNKNOWN is a node like any other: its inflow equals its outflow. Blocks and edges that cannot
 * be reached from CFG_ENTRY are classes of their own.
 */
#ifndef DCPI_FREQUENCY_CLASS_H
#define DCPI_FREQUENCY_CLASS_H

#include "analysis/graph/cfg.h"

/**
 * struct frequency_stop - a virtual edge to the exit
 * @node: a block or CFG_UNKNOWN; its outflow is that of its edges and of @class
 */
struct frequency_stop {
	uint32_t node;
	uint32_t class;
};

/**
 * struct frequency_classes - classes are numbered 0 .. @count - 1, blocks' first
 * @of_block:     class of each block
 * @of_edge:      class of each edge
 * @of_procedure: class of the edge from CFG_EXIT to CFG_ENTRY: executions of the whole procedure
 * @stops:        @stop_count virtual edges, at most one per block
 */
struct frequency_classes {
	uint32_t *of_block;
	uint32_t *of_edge;
	struct frequency_stop *stops;
	uint32_t count;
	uint32_t of_procedure;
	uint32_t stop_count;
};

/**
 * frequency_classes_find() - find the classes of a graph, O(blocks + edges)
 * @ret: out; freed by frequency_classes_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int frequency_classes_find(struct frequency_classes *ret, const struct cfg *cfg);

/** frequency_classes_deinit() - free the classes. Zero-initialised is fine. */
void frequency_classes_deinit(struct frequency_classes *classes);

#endif
