/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks and edges that must execute equally often (DCPI section 6.1.2): cycle
 * equivalence after Johnson, Pearson and Pingali, "The program structure tree",
 * PLDI 1994, on the graph with blocks split into two nodes and an edge from exit
 * to entry. Extension for code that never leaves (DCPI mentions one and does not
 * say what it is): each strongly connected component that cannot reach the exit
 * gets one virtual edge to it, from a latch.
 */
#ifndef DCPI_FREQUENCY_CLASS_H
#define DCPI_FREQUENCY_CLASS_H

#include "analysis/cfg.h"

/**
 * struct frequency_classes - classes are numbered 0 .. @count - 1
 * @of_block: class of each block
 * @of_edge:  class of each edge
 */
struct frequency_classes {
	uint32_t *of_block;
	uint32_t *of_edge;
	uint32_t count;
};

/**
 * frequency_classes_find() - O(blocks + edges)
 * @ret: out; freed by frequency_classes_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int frequency_classes_find(struct frequency_classes *ret, const struct cfg *cfg);

void frequency_classes_deinit(struct frequency_classes *classes);

#endif
