// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calls/context_listing.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/calls/call_map.h"
#include "instrument/calls/call_profile.h"
#include "lib/cleanup.h"
#include "tools/calls/call_report.h"

#define INDENT_MAX 200

static uint64_t context_listing_weight_of(const struct context_record *record)
{
	return record->inclusive > 0 ? record->inclusive : record->calls;
}

/* Group children by parent, in descending order. */
static int by_parent(const void *a, const void *b)
{
	const struct context_row *x = a, *y = b;
	uint64_t first = context_listing_weight_of(x->record),
		 second = context_listing_weight_of(y->record);

	if (x->record->parent != y->record->parent)
		return x->record->parent > y->record->parent ? 1 : -1;
	if (first != second)
		return first < second ? 1 : -1;
	return (x->number > y->number) - (x->number < y->number);
}

static double context_listing_percent(const struct context_listing *listing, uint64_t metric)
{
	uint64_t total = listing->tree->records[0].inclusive;

	return total > 0 ? 100.0 * (double)metric / (double)total : 0;
}

static char *indented(const char *name, uint32_t depth)
{
	size_t blanks = 2 * (size_t)(depth - 1);
	char *text;

	if (blanks > INDENT_MAX)
		blanks = INDENT_MAX;
	return asprintf(&text, "%*s%s", (int)blanks, "", name) < 0 ? NULL : text;
}

/*
 * Convert records grouped by parent to an order with each record before its children. @first: by
 * parent: position of its children in @sorted. @stack: records still to be visited, the last one
 * first.
 */
static int order(struct context_listing *listing, const struct context_row *sorted,
		 const size_t *first, uint32_t *stack, double least)
{
	const struct context_tree *tree = listing->tree;
	size_t depth = 0;

	stack[depth++] = 0;
	while (depth > 0) {
		uint32_t number = stack[--depth];
		const struct context_record *record = &tree->records[number];
		struct context_row *row = &listing->rows[listing->row_count];

		if (number != 0 && context_listing_percent(listing, record->inclusive) < least)
			continue;
		if (number != 0) {
			*row = (struct context_row){
				.listing = listing,
				.record = record,
				.number = number,
				.name = indented(listing->names->names[record->procedure],
						 record->depth)};
			listing->row_count++;
			if (row->name == NULL)
				return -ENOMEM;
		}
		for (size_t i = record->children; i-- > 0;)
			stack[depth++] = sorted[first[number] + i].number;
	}
	return 0;
}

int context_listing_make(struct context_listing *ret, const struct call_map *map,
			 const struct context_tree *tree, const struct call_names *names,
			 double least)
{
	struct context_row *sorted = calloc(tree->count + 1, sizeof(*sorted));
	size_t *first = calloc(tree->count + 1, sizeof(*first));
	uint32_t *stack = calloc(tree->count + 1, sizeof(*stack));
	int r = -ENOMEM;

	*ret = (struct context_listing){
		.map = map,
		.tree = tree,
		.names = names,
		.rows = calloc(tree->count + 1, sizeof(*ret->rows)),
	};
	if (sorted != NULL && first != NULL && stack != NULL && ret->rows != NULL)
		r = context_tree_statistics(tree, map, &ret->statistics);
	for (uint32_t i = 1; r == 0 && i < tree->count; i++)
		sorted[i - 1] = (struct context_row){.record = &tree->records[i], .number = i};
	if (r == 0) {
		qsort(sorted, tree->count - 1, sizeof(*sorted), by_parent);
		for (size_t i = tree->count - 1; i-- > 0;)
			first[sorted[i].record->parent] = i;
		r = order(ret, sorted, first, stack, least);
	}
	free(sorted);
	free(first);
	free(stack);
	return r;
}

void context_listing_deinit(struct context_listing *listing)
{
	for (size_t i = 0; i < listing->row_count; i++)
		free(listing->rows[i].name);
	free(listing->rows);
	*listing = (struct context_listing){0};
}

static struct call_report report_of(const struct context_listing *listing)
{
	const struct context_tree *tree = listing->tree;

	return (struct call_report){
		.map = listing->map,
		.metric = tree->metric,
		.total = tree->records[0].inclusive,
		.contexts = listing->statistics.records,
		.threads = tree->threads,
		.losses = tree->losses,
		.shared = tree->shared,
	};
}

void context_listing_heading(FILE *stream, const struct context_listing *listing)
{
	const struct context_statistics *shape = &listing->statistics;
	struct call_report report = report_of(listing);

	call_report_heading(stream, &report);
	fprintf(stream, "tree        %zu records of %zu bytes; %.2f children of each of %zu\n",
		shape->records, shape->bytes, shape->degree, shape->interior);
	fprintf(stream, "height      %.1f on average, %" PRIu32 " at most\n", shape->height,
		shape->height_max);
	fprintf(stream, "replication %" PRIu32 " at most, of %s\n", shape->replication,
		shape->replication > 0 ? listing->names->names[shape->replicated] : "none");
	if (listing->map->sites_distinguished)
		fprintf(stream, "call sites  %" PRIu64 " in all records, %" PRIu64 " reached",
			shape->sites, shape->reached);
	if (listing->map->sites_distinguished && listing->map->flow_at != 0)
		fprintf(stream, ", %" PRIu64 " by one path", listing->single);
	fputs(listing->map->sites_distinguished ? "\n" : "", stream);
	if (listing->map->flow_at != 0)
		fprintf(stream, "paths       %zu, in all records\n", listing->tree->path_count);
	fputc('\n', stream);
}

/* --- as a table ----------------------------------------------------------- */

enum {
	GET_INCLUSIVE,
	GET_EXCLUSIVE,
	GET_CALLS,
	GET_RECURSIVE,
	GET_NUMBER,
	GET_PARENT,
};

static void context_listing_get_count(const struct column *column, const void *row,
				      struct column_value *value)
{
	const struct context_row *at = row;

	switch (column->argument) {
	case GET_INCLUSIVE:
		value->count = at->record->inclusive;
		break;
	case GET_EXCLUSIVE:
		value->count = at->record->exclusive;
		break;
	case GET_CALLS:
		value->count = at->record->calls;
		break;
	case GET_RECURSIVE:
		value->count = at->record->recursive;
		break;
	case GET_NUMBER:
		value->count = at->number;
		break;
	case GET_PARENT:
		value->count = at->record->parent;
		break;
	}
}

static void context_listing_get_percent(const struct column *column, const void *row,
					struct column_value *value)
{
	const struct context_row *at = row;

	(void)column;
	value->percent = context_listing_percent(at->listing, at->record->inclusive);
}

static void context_listing_get_address(const struct column *column, const void *row,
					struct column_value *value)
{
	const struct context_row *at = row;

	(void)column;
	if (at->record->procedure < at->listing->tree->procedures)
		value->count = at->listing->map->procedures[at->record->procedure].address;
	else
		value->missing = true;
}

static void context_listing_get_site(const struct column *column, const void *row,
				     struct column_value *value)
{
	const struct context_row *at = row;

	(void)column;
	value->count = at->record->site;
	value->missing = at->record->site == 0;
}

/* @argument: 0: the name indented by depth, for text; 1: the plain name */
static void get_name(const struct column *column, const void *row, struct column_value *value)
{
	const struct context_row *at = row;

	value->text =
		column->argument == 0 ? at->name : at->listing->names->names[at->record->procedure];
}

/* The first one only if call sites are distinguished. */
static const struct column columns[] = {
	{"call site", "site", COLUMN_ADDRESS, 0, 0, context_listing_get_site},
	{"context", "context", COLUMN_COUNT, COLUMN_DETAIL, GET_NUMBER, context_listing_get_count},
	{"parent", "parent", COLUMN_COUNT, COLUMN_DETAIL, GET_PARENT, context_listing_get_count},
	{"%", "percent", COLUMN_PERCENT, 0, 0, context_listing_get_percent},
	{"inclusive", "inclusive", COLUMN_COUNT, 0, GET_INCLUSIVE, context_listing_get_count},
	{"exclusive", "exclusive", COLUMN_COUNT, 0, GET_EXCLUSIVE, context_listing_get_count},
	{"calls", "calls", COLUMN_COUNT, 0, GET_CALLS, context_listing_get_count},
	{"recursive", "recursive", COLUMN_COUNT, 0, GET_RECURSIVE, context_listing_get_count},
	{"address", "address", COLUMN_ADDRESS, COLUMN_DETAIL, 0, context_listing_get_address},
	{"context", "tree", COLUMN_TEXT, COLUMN_TEXT_ONLY, 0, get_name},
	{"procedure", "procedure", COLUMN_TEXT, COLUMN_DETAIL, 1, get_name},
};

static const void *row_at(const void *context, size_t index)
{
	const struct context_listing *listing = context;

	return &listing->rows[index];
}

struct columns_table context_listing_table(const struct context_listing *listing, size_t limit)
{
	size_t first = listing->map->sites_distinguished ? 0 : 1;

	return (struct columns_table){
		.columns = columns + first,
		.column_count = sizeof(columns) / sizeof(*columns) - first,
		.row = row_at,
		.context = listing,
		.row_count = limit > 0 && limit < listing->row_count ? limit : listing->row_count,
	};
}

/* --- as stacks ------------------------------------------------------------ */

/* Parents precede their children in the rows; if a parent is left out, so are its children. */
int context_listing_stacks(const struct context_listing *listing, struct stack_tree *ret)
{
	const struct context_tree *tree = listing->tree;
	struct stack_node *nodes = calloc(listing->row_count + 1, sizeof(*nodes));
	_cleanup_free_ uint32_t *place = calloc(tree->count, sizeof(*place));

	if (nodes == NULL || place == NULL) {
		free(nodes);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < listing->row_count; i++) {
		const struct context_row *row = &listing->rows[i];
		const struct context_record *record = row->record;

		place[row->number] = i + 1;
		nodes[i + 1] = (struct stack_node){
			.name = listing->names->names[record->procedure],
			.parent = place[record->parent],
			.value = tree->metric == CALL_METRIC_NONE
					 ? record->calls + record->recursive
					 : record->exclusive,
		};
	}
	*ret = (struct stack_tree){nodes, listing->row_count + 1};
	return 0;
}

/* --- as JSON -------------------------------------------------------------- */

struct json_object *context_listing_json(const struct context_listing *listing, size_t limit)
{
	const struct context_statistics *shape = &listing->statistics;
	struct columns_table table = context_listing_table(listing, limit);
	struct call_report report = report_of(listing);
	struct json_object *object = call_report_json(&report), *tree_shape;

	if (object == NULL)
		return NULL;
	tree_shape = json_object_new_object();
	if (tree_shape != NULL &&
	    call_report_member(tree_shape, "records", json_object_new_uint64(shape->records)) &&
	    call_report_member(tree_shape, "record_bytes", json_object_new_uint64(shape->bytes)) &&
	    call_report_member(tree_shape, "interior", json_object_new_uint64(shape->interior)) &&
	    call_report_member(tree_shape, "degree", json_object_new_double(shape->degree)) &&
	    call_report_member(tree_shape, "height", json_object_new_double(shape->height)) &&
	    call_report_member(tree_shape, "height_max",
			       json_object_new_uint64(shape->height_max)) &&
	    call_report_member(tree_shape, "replication",
			       json_object_new_uint64(shape->replication)) &&
	    (listing->map->flow_at == 0 ||
	     call_report_member(tree_shape, "paths",
				json_object_new_uint64(listing->tree->path_count))) &&
	    (listing->map->flow_at == 0 || !listing->map->sites_distinguished ||
	     call_report_member(tree_shape, "sites_single",
				json_object_new_uint64(listing->single))) &&
	    (!listing->map->sites_distinguished ||
	     (call_report_member(tree_shape, "sites", json_object_new_uint64(shape->sites)) &&
	      call_report_member(tree_shape, "sites_reached",
				 json_object_new_uint64(shape->reached)))) &&
	    call_report_member(object, "shape", json_object_get(tree_shape)) &&
	    call_report_member(object, "rows", columns_json(&table))) {
		json_object_put(tree_shape);
		return object;
	}
	json_object_put(tree_shape);
	json_object_put(object);
	return NULL;
}
