/* SPDX-License-Identifier: GPL-2.0-only */
/* Call stacks of procedures with a value for each stack, as a tree and as lines of text. */
#ifndef DCPI_STACK_TREE_H
#define DCPI_STACK_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct stack_node - a frame, called by that of its parent
 * @name:   clean
 * @parent: number of the caller's node, less than this one's; ignored in the root, the first node
 * @value:  spent in this frame, excluding its callees
 */
struct stack_node {
	const char *name;
	uint32_t parent;
	uint64_t value;
};

/** struct stack_tree - nodes; the first is the root, which is not a frame. Owned by the caller */
struct stack_tree {
	const struct stack_node *nodes;
	size_t count;
};

/** stack_tree_frame() - print a name as a frame of a folded stack: without semicolons */
void stack_tree_frame(FILE *stream, const char *name);

/**
 * stack_tree_folded() - print a line for each node with a value
 *
 * A line has the frames from the root, separated by semicolons, and the value. Programs that draw
 * flame graphs read this format.
 *
 * Return: 0 or -ENOMEM.
 */
int stack_tree_folded(FILE *stream, const struct stack_tree *tree);

#endif
