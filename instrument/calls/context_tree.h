/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A calling context tree, from what threads recorded (call_thread.h, CALL_POLICY_CONTEXT):
 * a record for each way to a procedure from the root, where a call of a procedure that is
 * active already leads back to its record, so the tree is finite. Calls from different
 * places in a procedure are one.
 *
 * After G. Ammons, T. Ball, J. R. Larus, "Exploiting hardware performance counters with flow
 * and context sensitive profiling", 1997.
 */
#ifndef DCPI_INSTRUMENT_CONTEXT_TREE_H
#define DCPI_INSTRUMENT_CONTEXT_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "instrument/calls/call_layout.h"
#include "lib/u64_map.h"

struct call_thread;

/**
 * struct context_record - a record
 * @parent:    its number; parents come before their children
 * @procedure: as of struct call_profile's nodes
 * @depth:     1 of the root's children
 * @children:  how many
 * @calls:     from the parent; @recursive: from further in
 * @exclusive: metric while it was the current one; @inclusive: with its children's
 */
struct context_record {
	uint32_t parent;
	uint32_t procedure;
	uint32_t depth;
	uint32_t children;
	uint64_t calls;
	uint64_t recursive;
	uint64_t exclusive;
	uint64_t inclusive;
};

/**
 * struct context_tree - freed by context_tree_deinit()
 * @records: the root first, which is no procedure
 * @shared:  threads that are not in it, for want of room; set by who reads
 */
struct context_tree {
	uint32_t procedures;
	struct context_record *records;
	size_t count;
	size_t capacity;
	struct u64_map index;
	enum call_metric metric;
	uint64_t threads;
	uint64_t shared;
	uint64_t losses[CALL_LOSSES];
};

/** context_tree_init() - an empty one. Return: 0 or -ENOMEM. */
int context_tree_init(struct context_tree *tree, uint32_t procedures);

void context_tree_deinit(struct context_tree *tree);

/**
 * context_tree_add() - add what a thread recorded
 *
 * Return: 0; -EBADMSG it is of another policy, or metric than those before; -ENOMEM.
 */
int context_tree_add(struct context_tree *tree, const struct call_thread *thread);

/** context_tree_child() - a record's child, which is added if it is not there. Return: its number;
 * UINT32_MAX: no memory. */
uint32_t context_tree_child(struct context_tree *tree, uint32_t parent, uint32_t procedure);

/** context_tree_sum() - find inclusive metrics and numbers of children, when all are in. */
void context_tree_sum(struct context_tree *tree);

/**
 * struct context_statistics - the shape of a tree, as the paper's table has it
 * @records:     but the root
 * @bytes:       of a record, while it is recorded
 * @interior:    records with children; @degree: how many these have on average
 * @height:      of leaves, on average; @height_max
 * @replication: most records of one procedure, which is @replicated
 */
struct context_statistics {
	size_t records;
	size_t bytes;
	size_t interior;
	double degree;
	double height;
	uint32_t height_max;
	uint32_t replication;
	uint32_t replicated;
};

/** context_tree_statistics() - of a tree that was summed. Return: 0 or -ENOMEM. */
int context_tree_statistics(const struct context_tree *tree, struct context_statistics *ret);

#endif
