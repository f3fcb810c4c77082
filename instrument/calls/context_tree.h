/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A calling context tree, from the contexts that threads recorded (call_thread.h,
 * CALL_POLICY_CONTEXT). It has a record for each call path from the root. A recursive call leads
 * back to the record of the active procedure, so the tree is finite. Calls from different sites in
 * a procedure share a record, unless the program has recorded call sites.
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

struct call_map;
struct call_thread;

/**
 * struct context_record - a record
 * @parent:    number of the parent's record; parents come before their children
 * @procedure: as in the nodes of struct call_profile
 * @site:      address of the call in the parent; 0: unknown, or any
 * @depth:     1 for the root's children
 * @children:  number of children
 * @calls:     calls from the parent; @recursive: calls from descendants
 * @exclusive: metric while it was the current record; @inclusive: including its children's
 */
struct context_record {
	uint32_t parent;
	uint32_t procedure;
	uint32_t depth;
	uint32_t children;
	uint64_t site;
	uint64_t calls;
	uint64_t recursive;
	uint64_t exclusive;
	uint64_t inclusive;
};

/**
 * struct context_site - a call site that was reached in a record
 * @record:  number of the record
 * @address: address of the call
 * @calls:   number of calls of procedures of the image, recursive ones included
 */
struct context_site {
	uint32_t record;
	uint64_t address;
	uint64_t calls;
};

/**
 * struct context_path - a path that was executed in a context
 * @record: number of the record, which has the procedure
 * @number: number of the path in the procedure
 */
struct context_path {
	uint32_t record;
	uint32_t number;
	uint64_t count;
};

/**
 * struct context_tree - freed by context_tree_deinit()
 * @records: the root first, which is not a procedure
 * @index:   record by parent (or call site) and procedure
 * @sites:   if call sites are distinguished: the reached ones
 * @addresses: numbers of their addresses; @site_index: index + 1 in @sites, by record and that
 *             number
 * @paths:   if paths are recorded: the executed ones; @path_index: index + 1, by record and number
 * @misplaced: number of executions of paths whose context is not known
 * @shared:  threads that are not included, for lack of room; set by the reader
 */
struct context_tree {
	uint32_t procedures;
	struct context_record *records;
	size_t count;
	size_t capacity;
	struct u64_map index;
	struct context_site *sites;
	size_t site_count;
	size_t site_capacity;
	struct u64_map addresses;
	struct u64_map site_index;
	struct context_path *paths;
	size_t path_count;
	size_t path_capacity;
	struct u64_map path_index;
	uint64_t misplaced;
	enum call_metric metric;
	uint64_t threads;
	uint64_t shared;
	uint64_t losses[CALL_LOSSES];
};

/** context_tree_init() - initialize an empty tree. Return: 0 or -ENOMEM. */
int context_tree_init(struct context_tree *tree, uint32_t procedures);

void context_tree_deinit(struct context_tree *tree);

/**
 * context_tree_add() - add the contexts of a thread
 * @map: of the thread's program
 *
 * Return: 0; -EBADMSG its policy or metric differs from those of previous threads, or it has call
 * sites that the map does not have; -ENOMEM.
 */
int context_tree_add(struct context_tree *tree, const struct call_map *map,
		     const struct call_thread *thread);

/**
 * context_tree_child() - find or add a child of a record
 * @site: address of the call; 0: unknown, or any
 *
 * Return: its number; UINT32_MAX: no memory.
 */
uint32_t context_tree_child(struct context_tree *tree, uint32_t parent, uint32_t procedure,
			    uint64_t site);

/**
 * context_tree_site() - find or add a call site that was reached in a record
 * @address: not 0
 *
 * Return: its index in @tree->sites; UINT32_MAX: no memory.
 */
uint32_t context_tree_site(struct context_tree *tree, uint32_t record, uint64_t address);

/**
 * context_tree_sum() - compute inclusive metrics and numbers of children, after all threads were
 * added
 */
void context_tree_sum(struct context_tree *tree);

/**
 * struct context_statistics - the shape of a tree, as in the paper's table
 * @records:     number of records except the root
 * @bytes:       size of a record while it is recorded
 * @interior:    records with children; @degree: their average number of children
 * @height:      average height of leaves; @height_max: maximum
 * @replication: maximum number of records of one procedure, which is @replicated
 * @sites:       if call sites are distinguished: their number in all records; @reached: number of
 *               sites from which a procedure of the image was called
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
	uint64_t sites;
	uint64_t reached;
};

/** context_tree_statistics() - describe a tree that was summed. Return: 0 or -ENOMEM. */
int context_tree_statistics(const struct context_tree *tree, const struct call_map *map,
			    struct context_statistics *ret);

#endif
