/* SPDX-License-Identifier: GPL-2.0-only */
/* A calling context tree for people and programs. */
#ifndef DCPI_CONTEXT_LISTING_H
#define DCPI_CONTEXT_LISTING_H

#include "instrument/calls/context_tree.h"
#include "tools/base/columns.h"
#include "tools/base/stack_tree.h"
#include "tools/calls/call_names.h"

struct call_map;
struct json_object;

/** struct context_row - a record, and its name as far in as it is deep */
struct context_row {
	const struct context_listing *listing;
	const struct context_record *record;
	uint32_t number;
	char *name;
};

/**
 * struct context_listing - freed by context_listing_deinit()
 * @rows: each record before its children, those with most of the metric first
 */
struct context_listing {
	const struct call_map *map;
	const struct context_tree *tree;
	const struct call_names *names;
	struct context_statistics statistics;
	struct context_row *rows;
	size_t row_count;
};

/**
 * context_listing_make() - put records in order
 * @least: percent of the metric; records with less are left out
 *
 * Return: 0 or -ENOMEM.
 */
int context_listing_make(struct context_listing *ret, const struct call_map *map,
			 const struct context_tree *tree, const struct call_names *names,
			 double least);

void context_listing_deinit(struct context_listing *listing);

/** context_listing_heading() - what was recorded, what was not, and the tree's shape. */
void context_listing_heading(FILE *stream, const struct context_listing *listing);

/** context_listing_table() - records as a table of at most @limit rows; 0: all. */
struct columns_table context_listing_table(const struct context_listing *listing, size_t limit);

/**
 * context_listing_stacks() - records as stacks with their own metric, or calls where there is none
 * @ret: out; its nodes are malloc'd, their names the listing's
 *
 * Return: 0 or -ENOMEM.
 */
int context_listing_stacks(const struct context_listing *listing, struct stack_tree *ret);

/** context_listing_json() - all of it. Return: NULL: no memory. */
struct json_object *context_listing_json(const struct context_listing *listing, size_t limit);

#endif
