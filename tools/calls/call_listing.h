/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints a call profile for users and programs: as a graph in the layout of gprof, or as a table of
 * its procedures or arcs.
 */
#ifndef DCPI_CALL_LISTING_H
#define DCPI_CALL_LISTING_H

#include "instrument/calls/call_profile.h"
#include "tools/base/columns.h"
#include "tools/calls/call_names.h"

struct call_map;
struct json_object;

/** struct call_row - a called procedure, or an arc; made by call_listing_make() */
struct call_row {
	const struct call_listing *listing;
	const struct call_node *node;
	const struct call_arc *arc;
	uint32_t number; /* of the node; for an arc: of its callee */
	size_t index;	 /* of a procedure in the listing, from 1 on */
};

/**
 * struct call_listing - freed by call_listing_deinit()
 * @procedures: in descending order of their metric including children
 * @arcs:       in descending order of their callee's metric
 * @index_of:   by node: its position in @procedures, from 1 on; 0: none
 */
struct call_listing {
	const struct call_map *map;
	const struct call_profile *profile;
	const struct call_names *names;
	struct call_row *procedures;
	size_t procedure_count;
	struct call_row *arcs;
	size_t arc_count;
	size_t *index_of;
};

/** call_listing_make() - sort procedures and arcs. Return: 0 or -ENOMEM */
int call_listing_make(struct call_listing *ret, const struct call_map *map,
		      const struct call_profile *profile, const struct call_names *names);

void call_listing_deinit(struct call_listing *listing);

/** call_listing_heading() - print the totals and losses of the recording */
void call_listing_heading(FILE *stream, const struct call_listing *listing);

/**
 * call_listing_graph() - print each procedure between its callers and its callees
 * @limit: number of procedures; 0: all
 *
 * Return: 0 or -ENOMEM.
 */
int call_listing_graph(FILE *stream, const struct call_listing *listing, size_t limit);

/** call_listing_procedures(), call_listing_arcs() - make tables of at most @limit rows; 0: all */
struct columns_table call_listing_procedures(const struct call_listing *listing, size_t limit);
struct columns_table call_listing_arcs(const struct call_listing *listing, size_t limit);

/**
 * call_listing_json() - make an object of totals, procedures and arcs. Return: NULL if out of
 * memory
 */
struct json_object *call_listing_json(const struct call_listing *listing, size_t limit);

#endif
