/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flame graphs as SVG: a box for each frame, as wide as what was spent in it and above,
 * upon that of its caller; side by side in order of names. What a box is of is its title,
 * which programs show when they are pointed at. There is no script in it.
 *
 * After B. Gregg, "The flame graph", 2016.
 */
#ifndef DCPI_FLAME_GRAPH_H
#define DCPI_FLAME_GRAPH_H

#include "tools/base/stack_tree.h"

/**
 * struct flame_graph - what to draw
 * @title: clean, stands above
 * @unit:  of the values: "cycles"
 */
struct flame_graph {
	const char *title;
	const char *unit;
	struct stack_tree tree;
};

/**
 * flame_graph_write() - draw it
 *
 * Boxes too thin to be seen are left out. O(nodes log nodes). Return: 0 or -ENOMEM.
 */
int flame_graph_write(FILE *stream, const struct flame_graph *graph);

#endif
