/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints a calling context tree for users and programs. */
#ifndef DCPI_CONTEXT_LISTING_H
#define DCPI_CONTEXT_LISTING_H

#include "instrument/calls/context_tree.h"
#include "tools/base/columns.h"
#include "tools/base/stack_tree.h"
#include "tools/calls/call_names.h"

struct call_map;
struct json_object;

/** struct context_row - a record, and its name indented by its depth */
struct context_row {
	const struct context_listing *listing;
	const struct context_record *record;
	uint32_t number;
	char *name;
};

/**
 * struct context_listing - freed by context_listing_deinit()
 * @single: number of call sites that one path reached (context_paths_single()), if paths are
 *          recorded and call sites are distinguished; set after context_listing_make()
 * @rows: each record before its children, siblings in descending order of the metric
 */
struct context_listing {
	const struct call_map *map;
	const struct context_tree *tree;
	const struct call_names *names;
	struct context_statistics statistics;
	uint64_t single;
	struct context_row *rows;
	size_t row_count;
};

/**
 * context_listing_make() - sort records
 * @least: minimum percentage of the metric; records with less are left out
 *
 * Return: 0 or -ENOMEM.
 */
int context_listing_make(struct context_listing *ret, const struct call_map *map,
			 const struct context_tree *tree, const struct call_names *names,
			 double least);

void context_listing_deinit(struct context_listing *listing);

/**
 * context_listing_heading() - print the totals and losses of the recording, and the tree's shape
 */
void context_listing_heading(FILE *stream, const struct context_listing *listing);

/** context_listing_table() - make a table of at most @limit records; 0: all */
struct columns_table context_listing_table(const struct context_listing *listing, size_t limit);

/**
 * context_listing_stacks() - make stacks with exclusive metrics, or calls if no metric was recorded
 * @ret: out; its nodes are malloc'd, their names owned by the listing
 *
 * Return: 0 or -ENOMEM.
 */
int context_listing_stacks(const struct context_listing *listing, struct stack_tree *ret);

/**
 * context_listing_json() - make an object with totals, shape and rows. Return: NULL if out of
 * memory
 */
struct json_object *context_listing_json(const struct context_listing *listing, size_t limit);

#endif
