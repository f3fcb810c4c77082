// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calls/call_listing.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>

#include "instrument/calls/call_map.h"
#include "tools/calls/call_report.h"

/* --- construction --------------------------------------------------------- */

static uint64_t with_children(const struct call_node *node)
{
	return node->self + node->children;
}

static int by_metric(const void *a, const void *b)
{
	const struct call_row *x = a, *y = b;
	uint64_t first = with_children(x->node), second = with_children(y->node);

	if (first == second) {
		first = x->node->calls + x->node->recursive;
		second = y->node->calls + y->node->recursive;
	}
	if (first != second)
		return first < second ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

static int by_callee(const void *a, const void *b)
{
	const struct call_row *x = a, *y = b;
	uint64_t first = x->arc->callee_self + x->arc->callee_children;
	uint64_t second = y->arc->callee_self + y->arc->callee_children;

	if (first == second) {
		first = x->arc->calls;
		second = y->arc->calls;
	}
	if (first != second)
		return first < second ? 1 : -1;
	if (x->arc->callee != y->arc->callee)
		return x->arc->callee > y->arc->callee ? 1 : -1;
	return (x->arc->caller > y->arc->caller) - (x->arc->caller < y->arc->caller);
}

static bool was_active(const struct call_node *node)
{
	return node->calls + node->recursive + with_children(node) > 0;
}

int call_listing_make(struct call_listing *ret, const struct call_map *map,
		      const struct call_profile *profile, const struct call_names *names)
{
	size_t nodes = profile->procedures + (size_t)CALL_PROFILE_NODES;

	*ret = (struct call_listing){
		.map = map,
		.profile = profile,
		.names = names,
		.procedures = calloc(nodes, sizeof(*ret->procedures)),
		.arcs = calloc(profile->arc_count + 1, sizeof(*ret->arcs)),
		.index_of = calloc(nodes, sizeof(*ret->index_of)),
	};
	if (ret->procedures == NULL || ret->arcs == NULL || ret->index_of == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < nodes; i++) {
		const struct call_node *node = &profile->nodes[i];
		bool listed = i != profile->procedures + CALL_PROFILE_ROOT && was_active(node);

		if (listed)
			ret->procedures[ret->procedure_count++] =
				(struct call_row){.listing = ret, .node = node, .number = i};
	}
	qsort(ret->procedures, ret->procedure_count, sizeof(*ret->procedures), by_metric);
	for (size_t i = 0; i < ret->procedure_count; i++) {
		ret->procedures[i].index = i + 1;
		ret->index_of[ret->procedures[i].number] = i + 1;
	}
	for (size_t i = 0; i < profile->arc_count; i++)
		ret->arcs[ret->arc_count++] =
			(struct call_row){.listing = ret,
					  .arc = &profile->arcs[i],
					  .node = &profile->nodes[profile->arcs[i].callee],
					  .number = profile->arcs[i].callee};
	qsort(ret->arcs, ret->arc_count, sizeof(*ret->arcs), by_callee);
	return 0;
}

void call_listing_deinit(struct call_listing *listing)
{
	free(listing->procedures);
	free(listing->arcs);
	free(listing->index_of);
	*listing = (struct call_listing){0};
}

/* --- as a graph ----------------------------------------------------------- */

static double call_listing_percent(const struct call_listing *listing, uint64_t metric)
{
	uint64_t total = listing->profile->total;

	return total > 0 ? 100.0 * (double)metric / (double)total : 0;
}

static struct call_report report_of(const struct call_listing *listing)
{
	const struct call_profile *profile = listing->profile;

	return (struct call_report){
		.map = listing->map,
		.metric = profile->metric,
		.total = profile->total,
		.contexts = profile->contexts,
		.threads = profile->threads,
		.losses = profile->losses,
		.shared = profile->shared,
	};
}

void call_listing_heading(FILE *stream, const struct call_listing *listing)
{
	struct call_report report = report_of(listing);

	call_report_heading(stream, &report);
	fputc('\n', stream);
}

static void print_name(FILE *stream, const struct call_listing *listing, uint32_t number)
{
	fputs(listing->names->names[number], stream);
	if (listing->index_of[number] > 0)
		fprintf(stream, " [%zu]", listing->index_of[number]);
	fputc('\n', stream);
}

static void print_neighbour(FILE *stream, const struct call_listing *listing, uint32_t number,
			    uint64_t self, uint64_t children, uint64_t calls, uint64_t all)
{
	char called[48];

	snprintf(called, sizeof(called), "%" PRIu64 "/%" PRIu64, calls, all);
	fprintf(stream, "%15s %15" PRIu64 " %15" PRIu64 " %20s      ", "", self, children, called);
	print_name(stream, listing, number);
}

/* Print the arcs at a procedure. @callers: the arcs to it, else the arcs from it */
static int print_neighbours(FILE *stream, const struct call_listing *listing, uint32_t number,
			    bool callers)
{
	for (size_t i = 0; i < listing->arc_count; i++) {
		const struct call_arc *arc = listing->arcs[i].arc;
		uint64_t all = listing->profile->nodes[arc->callee].calls;

		if (callers && arc->callee == number)
			print_neighbour(stream, listing, arc->caller, arc->callee_self,
					arc->callee_children, arc->calls, all);
		else if (!callers && arc->caller == number)
			print_neighbour(stream, listing, arc->callee, arc->caller_self,
					arc->caller_children, arc->calls, all);
	}
	return 0;
}

static void print_own(FILE *stream, const struct call_listing *listing, const struct call_row *row)
{
	const struct call_node *node = row->node;
	char index[32], called[48];

	snprintf(index, sizeof(index), "[%zu]", row->index);
	if (node->recursive > 0)
		snprintf(called, sizeof(called), "%" PRIu64 "+%" PRIu64, node->calls,
			 node->recursive);
	else
		snprintf(called, sizeof(called), "%" PRIu64, node->calls);
	fprintf(stream, "%-8s %6.1f %15" PRIu64 " %15" PRIu64 " %20s  ", index,
		call_listing_percent(listing, with_children(node)), node->self, node->children,
		called);
	print_name(stream, listing, row->number);
}

int call_listing_graph(FILE *stream, const struct call_listing *listing, size_t limit)
{
	size_t count =
		limit > 0 && limit < listing->procedure_count ? limit : listing->procedure_count;

	fprintf(stream, "%-8s %6s %15s %15s %20s  %s\n", "index", "%", "self", "children", "called",
		"name");
	for (size_t i = 0; i < count; i++) {
		print_neighbours(stream, listing, listing->procedures[i].number, true);
		print_own(stream, listing, &listing->procedures[i]);
		print_neighbours(stream, listing, listing->procedures[i].number, false);
		fputs("-----------------------------------------------\n", stream);
	}
	if (count < listing->procedure_count)
		fprintf(stream, "... %zu more procedure%s\n", listing->procedure_count - count,
			listing->procedure_count - count == 1 ? "" : "s");
	return 0;
}

/* --- as tables ------------------------------------------------------------ */

enum {
	GET_CALLS,
	GET_RECURSIVE,
	GET_SELF,
	GET_CHILDREN,
	GET_CALLER_SELF,
	GET_CALLER_CHILDREN,
};

static void call_listing_get_count(const struct column *column, const void *row,
				   struct column_value *value)
{
	const struct call_row *at = row;

	switch (column->argument) {
	case GET_CALLS:
		value->count = at->arc != NULL ? at->arc->calls : at->node->calls;
		break;
	case GET_RECURSIVE:
		value->count = at->node->recursive;
		break;
	case GET_SELF:
		value->count = at->arc != NULL ? at->arc->callee_self : at->node->self;
		break;
	case GET_CHILDREN:
		value->count = at->arc != NULL ? at->arc->callee_children : at->node->children;
		break;
	case GET_CALLER_SELF:
		value->count = at->arc->caller_self;
		break;
	case GET_CALLER_CHILDREN:
		value->count = at->arc->caller_children;
		break;
	}
}

static void call_listing_get_percent(const struct column *column, const void *row,
				     struct column_value *value)
{
	const struct call_row *at = row;

	(void)column;
	value->percent = call_listing_percent(
		at->listing, at->arc != NULL ? at->arc->callee_self + at->arc->callee_children
					     : with_children(at->node));
}

static void get_name(const struct column *column, const void *row, struct column_value *value)
{
	const struct call_row *at = row;

	value->text =
		at->listing->names->names[column->argument == 0 ? at->number : at->arc->caller];
}

/* Nodes that are not procedures have no address. */
static void call_listing_get_address(const struct column *column, const void *row,
				     struct column_value *value)
{
	const struct call_row *at = row;
	uint32_t number = column->argument == 0 ? at->number : at->arc->caller;

	if (number < at->listing->profile->procedures)
		value->count = at->listing->map->procedures[number].address;
	else
		value->missing = true;
}

static const struct column procedure_columns[] = {
	{"%", "percent", COLUMN_PERCENT, 0, 0, call_listing_get_percent},
	{"self", "self", COLUMN_COUNT, 0, GET_SELF, call_listing_get_count},
	{"children", "children", COLUMN_COUNT, 0, GET_CHILDREN, call_listing_get_count},
	{"calls", "calls", COLUMN_COUNT, 0, GET_CALLS, call_listing_get_count},
	{"recursive", "recursive", COLUMN_COUNT, 0, GET_RECURSIVE, call_listing_get_count},
	{"address", "address", COLUMN_ADDRESS, COLUMN_DETAIL, 0, call_listing_get_address},
	{"procedure", "procedure", COLUMN_TEXT, COLUMN_CUT_NAME, 0, get_name},
};

static const struct column arc_columns[] = {
	{"%", "percent", COLUMN_PERCENT, 0, 0, call_listing_get_percent},
	{"self", "self", COLUMN_COUNT, 0, GET_SELF, call_listing_get_count},
	{"children", "children", COLUMN_COUNT, 0, GET_CHILDREN, call_listing_get_count},
	{"caller's self", "caller_self", COLUMN_COUNT, COLUMN_DETAIL, GET_CALLER_SELF,
	 call_listing_get_count},
	{"caller's children", "caller_children", COLUMN_COUNT, COLUMN_DETAIL, GET_CALLER_CHILDREN,
	 call_listing_get_count},
	{"calls", "calls", COLUMN_COUNT, 0, GET_CALLS, call_listing_get_count},
	{"caller's address", "caller_address", COLUMN_ADDRESS, COLUMN_DETAIL, 1,
	 call_listing_get_address},
	{"caller", "caller", COLUMN_TEXT, COLUMN_CUT_NAME, 1, get_name},
	{"address", "address", COLUMN_ADDRESS, COLUMN_DETAIL, 0, call_listing_get_address},
	{"procedure", "procedure", COLUMN_TEXT, COLUMN_CUT_NAME, 0, get_name},
};

static const void *procedure_row(const void *context, size_t index)
{
	const struct call_listing *listing = context;

	return &listing->procedures[index];
}

static const void *arc_row(const void *context, size_t index)
{
	const struct call_listing *listing = context;

	return &listing->arcs[index];
}

static size_t limited(size_t count, size_t limit)
{
	return limit > 0 && limit < count ? limit : count;
}

struct columns_table call_listing_procedures(const struct call_listing *listing, size_t limit)
{
	return (struct columns_table){
		.columns = procedure_columns,
		.column_count = sizeof(procedure_columns) / sizeof(*procedure_columns),
		.row = procedure_row,
		.context = listing,
		.row_count = limited(listing->procedure_count, limit),
	};
}

struct columns_table call_listing_arcs(const struct call_listing *listing, size_t limit)
{
	return (struct columns_table){
		.columns = arc_columns,
		.column_count = sizeof(arc_columns) / sizeof(*arc_columns),
		.row = arc_row,
		.context = listing,
		.row_count = limited(listing->arc_count, limit),
	};
}

struct json_object *call_listing_json(const struct call_listing *listing, size_t limit)
{
	struct columns_table procedures = call_listing_procedures(listing, limit);
	struct columns_table arcs = call_listing_arcs(listing, limit);
	struct call_report report = report_of(listing);
	struct json_object *object = call_report_json(&report);

	if (object != NULL && call_report_member(object, "procedures", columns_json(&procedures)) &&
	    call_report_member(object, "arcs", columns_json(&arcs)))
		return object;
	json_object_put(object);
	return NULL;
}
