/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flame graphs as SVG. The width of a frame's box is the value of the frame and of all frames above
 * it. A box stands on that of its caller; callees are in order of names from left to right. The
 * title of a box names its frame and value; viewers show it under the mouse pointer. The SVG
 * contains no script.
 *
 * After B. Gregg, "The flame graph", 2016.
 */
#ifndef DCPI_FLAME_GRAPH_H
#define DCPI_FLAME_GRAPH_H

#include "tools/base/stack_tree.h"

/**
 * struct flame_graph - the drawing's contents
 * @title: clean, printed at the top
 * @unit:  of the values: "cycles"
 */
struct flame_graph {
	const char *title;
	const char *unit;
	struct stack_tree tree;
};

/**
 * flame_graph_write() - write the SVG
 *
 * Boxes too thin to be visible are omitted. O(nodes log nodes). Return: 0 or -ENOMEM.
 */
int flame_graph_write(FILE *stream, const struct flame_graph *graph);

#endif
