// SPDX-License-Identifier: GPL-2.0-only
#include "tools/stacks/stack_listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/near_symbols.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "tools/report/cli.h"

/* Spaces for each level of a tree; deeper levels are not indented further. */
#define INDENT 2
#define INDENT_MAX 60

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* Sums for each procedure. */
struct sums {
	uint64_t self;
	uint64_t total;
};

/* An inlined function is meant by its name, too. */
static bool is_named(const struct stack_profile *profile, uint32_t procedure, const char *name)
{
	const char *own = profile->procedures[procedure].name;
	size_t length = strlen(name);

	return strncmp(own, name, length) == 0 &&
	       (own[length] == '\0' || strcmp(own + length, STACK_PROFILE_INLINED) == 0);
}

/* Return true if a procedure occurs in the callers of a node. */
static bool has_above(const struct stack_profile *profile, uint32_t node, uint32_t procedure)
{
	while ((node = profile->nodes[node].parent) != 0) {
		if (profile->nodes[node].procedure == procedure)
			return true;
	}
	return false;
}

static void inclusive_sum(const struct stack_profile *profile, struct sums *sums)
{
	for (uint32_t i = 1; i < profile->node_count; i++) {
		const struct stack_profile_node *node = &profile->nodes[i];

		sums[node->procedure].self += node->self;
		if (!has_above(profile, i, node->procedure))
			sums[node->procedure].total += node->total;
	}
}

/*
 * A call of interest is from one procedure to another, and only one of them has the name.
 * Return: the other one; -1: not such a call.
 */
static int64_t call_other(const struct stack_profile *profile, uint32_t node, enum stack_view view,
			  const char *name)
{
	uint32_t parent = profile->nodes[node].parent;
	uint32_t callee = profile->nodes[node].procedure, caller;

	if (parent == 0)
		return -1;
	caller = profile->nodes[parent].procedure;
	if (is_named(profile, callee, name) == is_named(profile, caller, name))
		return -1;
	if (view == STACK_VIEW_CALLERS)
		return is_named(profile, callee, name) ? (int64_t)caller : -1;
	return is_named(profile, caller, name) ? (int64_t)callee : -1;
}

static bool call_is_above(const struct stack_profile *profile, uint32_t node, enum stack_view view,
			  const char *name, int64_t other)
{
	while ((node = profile->nodes[node].parent) != 0) {
		if (call_other(profile, node, view, name) == other)
			return true;
	}
	return false;
}

static void calls_sum(const struct stack_profile *profile, enum stack_view view, const char *name,
		      struct sums *sums)
{
	for (uint32_t i = 1; i < profile->node_count; i++) {
		int64_t other = call_other(profile, i, view, name);

		if (other >= 0 && !call_is_above(profile, i, view, name, other))
			sums[other].total += profile->nodes[i].total;
	}
}

/* Samples of stacks that have a procedure of this name; @self: in the procedure itself. */
static uint64_t name_total(const struct stack_profile *profile, const char *name, uint64_t *self)
{
	uint64_t total = 0;

	*self = 0;
	for (uint32_t i = 1; i < profile->node_count; i++) {
		uint32_t above = profile->nodes[i].parent;

		if (!is_named(profile, profile->nodes[i].procedure, name))
			continue;
		*self += profile->nodes[i].self;
		while (above != 0 && !is_named(profile, profile->nodes[above].procedure, name))
			above = profile->nodes[above].parent;
		if (above == 0)
			total += profile->nodes[i].total;
	}
	return total;
}

static int row_add(struct stack_listing *listing, const char *name, const char *image,
		   const struct sums *sums, uint64_t depth)
{
	size_t indent = depth * INDENT < INDENT_MAX ? depth * INDENT : INDENT_MAX;
	struct stack_row row = {.image = image, .self = sums->self, .total = sums->total};

	if (array_reserve(&listing->rows, &listing->row_capacity, listing->row_count + 1,
			  sizeof(row)) < 0)
		return -ENOMEM;
	row.name = malloc(indent + strlen(name) + 1);
	if (row.name == NULL)
		return -ENOMEM;
	memset(row.name, ' ', indent);
	memcpy(row.name + indent, name, strlen(name) + 1);
	row.depth = depth;
	row.percent = percent_of(row.total, listing->whole);
	row.self_percent = percent_of(row.self, listing->whole);
	listing->rows[listing->row_count++] = row;
	return 0;
}

static int by_total(const void *a, const void *b)
{
	const struct stack_row *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	if (x->self != y->self)
		return x->self > y->self ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int procedures_list(struct stack_listing *listing, const struct sums *sums)
{
	const struct stack_profile *profile = listing->profile;

	for (size_t i = 0; i < profile->procedure_count; i++) {
		if (sums[i].total > 0 && row_add(listing, profile->procedures[i].name,
						 profile->procedures[i].image, &sums[i], 0) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int rows_make(struct stack_listing *listing, const char *name)
{
	const struct stack_profile *profile = listing->profile;
	_cleanup_free_ struct sums *sums = calloc(profile->procedure_count + 1, sizeof(*sums));
	struct sums own = {.self = 0};
	int r;

	if (sums == NULL)
		return -ENOMEM;
	if (listing->view == STACK_VIEW_INCLUSIVE)
		inclusive_sum(profile, sums);
	else
		calls_sum(profile, listing->view, name, sums);
	r = procedures_list(listing, sums);
	if (r == 0 && listing->view == STACK_VIEW_CALLEES) {
		name_total(profile, name, &own.self);
		own.total = own.self;
		r = row_add(listing, "(itself)", "", &own, 0);
	}
	if (r == 0 && listing->row_count > 0)
		qsort(listing->rows, listing->row_count, sizeof(*listing->rows), by_total);
	return r;
}

/* Order of a tree: by parent, then by descending total. */
static int by_parent(const void *a, const void *b, void *context)
{
	const struct stack_profile_node *nodes = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (nodes[x].parent != nodes[y].parent)
		return nodes[x].parent < nodes[y].parent ? -1 : 1;
	if (nodes[x].total != nodes[y].total)
		return nodes[x].total > nodes[y].total ? -1 : 1;
	return (x > y) - (x < y);
}

/*
 * struct tree - children of each node
 * @order: nodes by parent
 * @next:  of each node: position in @order of its next child to be listed
 */
struct tree {
	const struct stack_profile *profile;
	uint32_t *order;
	uint32_t *next;
};

static void tree_sort(struct tree *tree)
{
	const struct stack_profile *profile = tree->profile;
	uint32_t count = (uint32_t)profile->node_count - 1;

	for (uint32_t i = 0; i < count; i++)
		tree->order[i] = i + 1;
	if (count > 0)
		qsort_r(tree->order, count, sizeof(*tree->order), by_parent, profile->nodes);
	for (uint32_t i = count; i-- > 0;)
		tree->next[profile->nodes[tree->order[i]].parent] = i;
}

static int node_list(struct stack_listing *listing, uint32_t number, uint64_t depth)
{
	const struct stack_profile_node *node = &listing->profile->nodes[number];
	const struct stack_procedure *procedure = &listing->profile->procedures[node->procedure];
	const struct sums sums = {node->self, node->total};

	return row_add(listing, procedure->name, procedure->image, &sums, depth);
}

/* List each node before its children, without recursion. */
static int tree_list(struct stack_listing *listing)
{
	const struct stack_profile *profile = listing->profile;
	size_t count = profile->node_count;
	_cleanup_free_ uint32_t *order = calloc(count + 1, sizeof(*order));
	_cleanup_free_ uint32_t *next = calloc(count + 1, sizeof(*next));
	struct tree tree = {profile, order, next};
	uint64_t depth = 0;
	uint32_t at = 0;

	if (order == NULL || next == NULL)
		return -ENOMEM;
	memset(next, 0xff, (count + 1) * sizeof(*next));
	tree_sort(&tree);
	while (listing->limit == 0 || listing->row_count < listing->limit) {
		uint32_t position = next[at];

		if (position < count - 1 && profile->nodes[order[position]].parent == at) {
			next[at]++;
			at = order[position];
			if (node_list(listing, at, depth++) < 0)
				return -ENOMEM;
		} else if (at == 0) {
			break;
		} else {
			at = profile->nodes[at].parent;
			depth--;
		}
	}
	return 0;
}

static int unknown_procedure(const struct stack_profile *profile, const char *name,
			     struct error *err)
{
	_cleanup_(near_names_deinit) struct near_names near = {.wanted = name};
	char text[256];

	for (uint32_t i = 0; i < profile->procedure_count; i++)
		near_symbols_add(&near, profile->procedures[i].name);
	near_names_text(&near, text, sizeof(text));
	return error_set(err, EINVAL, "no sampled stack has a procedure '%s'%s%s", name, text,
			 profile->excluded > 0 ? CLI_PROFILER_HINT : "");
}

int stack_listing_make(struct stack_listing *ret, const struct stack_profile *profile,
		       enum stack_view view, const char *procedure, size_t limit, struct error *err)
{
	uint64_t self;
	int r;

	*ret = (struct stack_listing){
		.profile = profile, .view = view, .limit = limit, .whole = profile->nodes[0].total};
	if (procedure != NULL) {
		ret->whole = name_total(profile, procedure, &self);
		if (ret->whole == 0)
			return unknown_procedure(profile, procedure, err);
	}
	r = view == STACK_VIEW_TREE ? tree_list(ret) : rows_make(ret, procedure);
	return r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY) : 0;
}

void stack_listing_deinit(struct stack_listing *listing)
{
	for (size_t i = 0; i < listing->row_count; i++)
		free(listing->rows[i].name);
	free(listing->rows);
	*listing = (struct stack_listing){.row_count = 0};
}

static void get_name(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct stack_row *)row)->name;
}

static void get_plain_name(const struct column *column, const void *row, struct column_value *value)
{
	get_name(column, row, value);
	value->text += strspn(value->text, " ");
}

static void get_image(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = ((const struct stack_row *)row)->image;
}

/* @argument: offset of the member */
static void stack_listing_get_samples(const struct column *column, const void *row,
				      struct column_value *value)
{
	memcpy(&value->count, (const char *)row + column->argument, sizeof(value->count));
}

static void get_percent(const struct column *column, const void *row, struct column_value *value)
{
	memcpy(&value->percent, (const char *)row + column->argument, sizeof(value->percent));
}

#define MEMBER(name) offsetof(struct stack_row, name)

static const struct column columns[] = {
	{"total", "total", COLUMN_COUNT, 0, MEMBER(total), stack_listing_get_samples},
	{"total%", "total_percent", COLUMN_PERCENT, 0, MEMBER(percent), get_percent},
	{"self", "self", COLUMN_COUNT, 0, MEMBER(self), stack_listing_get_samples},
	{"self%", "self_percent", COLUMN_PERCENT, 0, MEMBER(self_percent), get_percent},
	{"procedure", "name", COLUMN_TEXT, COLUMN_TEXT_ONLY | COLUMN_CUT_NAME, 0, get_name},
	{"procedure", "procedure", COLUMN_TEXT, COLUMN_DETAIL, 0, get_plain_name},
	{"image", "image", COLUMN_TEXT, COLUMN_CUT_START, 0, get_image},
	{"depth", "depth", COLUMN_COUNT, COLUMN_DETAIL, MEMBER(depth), stack_listing_get_samples},
};

static void get_ms(const struct column *column, const void *row, struct column_value *value)
{
	uint64_t ns;

	memcpy(&ns, (const char *)row + column->argument, sizeof(ns));
	value->number = (double)ns / 1e6;
}

static const struct column off_cpu_columns[] = {
	{"total ms", "total_ms", COLUMN_NUMBER, COLUMN_TEXT_ONLY | COLUMN_DECIMALS(3),
	 MEMBER(total), get_ms},
	{"total ns", "total_ns", COLUMN_COUNT, COLUMN_DETAIL, MEMBER(total),
	 stack_listing_get_samples},
	{"total%", "total_percent", COLUMN_PERCENT, 0, MEMBER(percent), get_percent},
	{"self ms", "self_ms", COLUMN_NUMBER, COLUMN_TEXT_ONLY | COLUMN_DECIMALS(3), MEMBER(self),
	 get_ms},
	{"self ns", "self_ns", COLUMN_COUNT, COLUMN_DETAIL, MEMBER(self),
	 stack_listing_get_samples},
	{"self%", "self_percent", COLUMN_PERCENT, 0, MEMBER(self_percent), get_percent},
	{"procedure", "name", COLUMN_TEXT, COLUMN_TEXT_ONLY | COLUMN_CUT_NAME, 0, get_name},
	{"procedure", "procedure", COLUMN_TEXT, COLUMN_DETAIL, 0, get_plain_name},
	{"image", "image", COLUMN_TEXT, COLUMN_CUT_START, 0, get_image},
	{"depth", "depth", COLUMN_COUNT, COLUMN_DETAIL, MEMBER(depth), stack_listing_get_samples},
};

static const void *get_row(const void *context, size_t index)
{
	return &((const struct stack_listing *)context)->rows[index];
}

static size_t totals_of_off_cpu(struct stack_listing *listing)
{
	const struct stack_profile *profile = listing->profile;

	listing->totals[0] = (struct report_total){.name = "intervals", .count = profile->stacks};
	listing->totals[1] = (struct report_total){.name = "complete", .count = profile->complete};
	listing->totals[2] = (struct report_total){.name = "ns", .count = listing->whole};
	listing->totals[3] =
		(struct report_total){.name = "sampled up to ns", .count = profile->threshold_ns};
	return 4;
}

static size_t totals_of_stacks(struct stack_listing *listing)
{
	const struct stack_profile *profile = listing->profile;

	listing->totals[0] = (struct report_total){.name = "stacks", .count = profile->stacks};
	listing->totals[1] = (struct report_total){.name = "complete", .count = profile->complete};
	listing->totals[2] =
		(struct report_total){.name = "samples they stand for", .count = listing->whole};
	return 3;
}

struct report stack_listing_report(struct stack_listing *listing)
{
	bool is_off_cpu = listing->profile->mode == PROFILE_RECORDING_OFF_CPU;
	size_t count = listing->row_count;

	if (listing->limit > 0 && count > listing->limit)
		count = listing->limit;
	return (struct report){
		.totals_of = is_off_cpu ? "off-CPU time:" : "call stacks:",
		.totals = listing->totals,
		.total_count = is_off_cpu ? totals_of_off_cpu(listing) : totals_of_stacks(listing),
		.table =
			{
				.columns = is_off_cpu ? off_cpu_columns : columns,
				.column_count = is_off_cpu ? sizeof(off_cpu_columns) /
								     sizeof(*off_cpu_columns)
							   : sizeof(columns) / sizeof(*columns),
				.row = get_row,
				.context = listing,
				.row_count = count,
			},
	};
}
