/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A call profile for people and programs: as a graph in the layout of gprof, or as a table
 * of its procedures or arcs.
 */
#ifndef DCPI_CALL_LISTING_H
#define DCPI_CALL_LISTING_H

#include "instrument/calls/call_profile.h"
#include "tools/base/columns.h"
#include "tools/calls/call_names.h"

struct call_map;
struct json_object;

/** struct call_row - a procedure that was called, or an arc; made by call_listing_make() */
struct call_row {
	const struct call_listing *listing;
	const struct call_node *node;
	const struct call_arc *arc;
	uint32_t number; /* of the node; of an arc: of its callee */
	size_t index;	 /* of a procedure in the listing, from 1 on */
};

/**
 * struct call_listing - freed by call_listing_deinit()
 * @procedures: by their metric with children, most first
 * @arcs:       by their callee's metric, most first
 * @index_of:   of each node its place in @procedures, from 1 on; 0: it has none
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

/** call_listing_make() - sort what there is. Return: 0 or -ENOMEM. */
int call_listing_make(struct call_listing *ret, const struct call_map *map,
		      const struct call_profile *profile, const struct call_names *names);

void call_listing_deinit(struct call_listing *listing);

/** call_listing_heading() - what was recorded, and what was not. */
void call_listing_heading(FILE *stream, const struct call_listing *listing);

/**
 * call_listing_graph() - each procedure between who called it and whom it called
 * @limit: procedures; 0: all
 *
 * Return: 0 or -ENOMEM.
 */
int call_listing_graph(FILE *stream, const struct call_listing *listing, size_t limit);

/** call_listing_procedures(), call_listing_arcs() - as tables of at most @limit rows; 0: all. */
struct columns_table call_listing_procedures(const struct call_listing *listing, size_t limit);
struct columns_table call_listing_arcs(const struct call_listing *listing, size_t limit);

/** call_listing_json() - all of it. Return: NULL: no memory. */
struct json_object *call_listing_json(const struct call_listing *listing, size_t limit);

#endif
