/* SPDX-License-Identifier: GPL-2.0-only */
/* Stacks of procedures with what was spent in each, as a tree; and as lines of text. */
#ifndef DCPI_STACK_TREE_H
#define DCPI_STACK_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct stack_node - a frame, below that of its parent
 * @name:   clean
 * @parent: its number, less than this one's; of the first, the root, it is not looked at
 * @value:  spent here, not in nodes below
 */
struct stack_node {
	const char *name;
	uint32_t parent;
	uint64_t value;
};

/** struct stack_tree - the root first, which is no frame; the caller's memory. */
struct stack_tree {
	const struct stack_node *nodes;
	size_t count;
};

/** stack_tree_frame() - print a name as what is a frame of a folded stack: without semicolons. */
void stack_tree_frame(FILE *stream, const char *name);

/**
 * stack_tree_folded() - a line for each node with a value: its frames from the root, with
 * semicolons between them, and the value; what programs that draw flame graphs read
 *
 * Return: 0 or -ENOMEM.
 */
int stack_tree_folded(FILE *stream, const struct stack_tree *tree);

#endif
