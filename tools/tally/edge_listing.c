// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/edge_listing.h"

#include <errno.h>
#include <string.h>

#include "lib/error.h"
#include "lib/near_names.h"

static const char *const kind_names[PROFILE_EDGE_KINDS] = {
	[PROFILE_EDGE_BRANCH] = "branch",
	[PROFILE_EDGE_DOUBLE] = "double",
	[PROFILE_EDGE_PROBE] = "probe",
	[PROFILE_EDGE_RECORD] = "record",
};

static void edge_listing_get_count(const struct column *column, const void *row,
				   struct column_value *value)
{
	(void)column;
	value->count = ((const struct edge_row *)row)->count;
}

static void get_kind(const struct column *column, const void *row, struct column_value *value)
{
	(void)column;
	value->text = kind_names[((const struct edge_row *)row)->kind];
}

/* @argument of the functions below: 0: start of the edge, 1: end. */
static const struct edge_end *edge_listing_end_of(const struct column *column, const void *row)
{
	const struct edge_row *edge = row;

	return column->argument == 0 ? &edge->from : &edge->to;
}

static void get_place(const struct column *column, const void *row, struct column_value *value)
{
	value->text = edge_listing_end_of(column, row)->place;
	value->note = edge_listing_end_of(column, row)->mark;
}

static void edge_listing_get_image(const struct column *column, const void *row,
				   struct column_value *value)
{
	value->text = edge_listing_end_of(column, row)->image;
}

static void get_offset(const struct column *column, const void *row, struct column_value *value)
{
	value->count = edge_listing_end_of(column, row)->offset;
}

static const struct column columns[] = {
	{"count", "count", COLUMN_COUNT, 0, 0, edge_listing_get_count},
	{"kind", "kind", COLUMN_TEXT, 0, 0, get_kind},
	{"from", "from", COLUMN_TEXT, COLUMN_CUT_NAME, 0, get_place},
	{"to", "to", COLUMN_TEXT, COLUMN_CUT_NAME, 1, get_place},
	{"image", "image", COLUMN_TEXT, COLUMN_CUT_START, 0, edge_listing_get_image},
	{"to image", "to_image", COLUMN_TEXT, COLUMN_CUT_START, 1, edge_listing_get_image},
	{"from offset", "from_offset", COLUMN_ADDRESS, COLUMN_DETAIL, 0, get_offset},
	{"to offset", "to_offset", COLUMN_ADDRESS, COLUMN_DETAIL, 1, get_offset},
};

static const struct {
	const char *name;
	enum edge_order order;
} orders[] = {
	{"count", EDGE_BY_COUNT},
	{"procedure", EDGE_BY_PROCEDURE},
	{"image", EDGE_BY_IMAGE},
	{"address", EDGE_BY_ADDRESS},
};

#define ORDERS (sizeof(orders) / sizeof(*orders))

int edge_listing_order(enum edge_order *ret, const char *sort, struct error *err)
{
	const char *names[ORDERS];

	for (size_t i = 0; i < ORDERS; i++) {
		names[i] = orders[i].name;
		if (sort == NULL || strcmp(orders[i].name, sort) == 0) {
			*ret = orders[i].order;
			return 0;
		}
	}
	return near_names_unknown(err, "sort column of edges", sort, names, ORDERS);
}

static const void *edge_listing_get_row(const void *context, size_t index)
{
	return edge_tally_row(((const struct edge_listing *)context)->tally, index);
}

struct report edge_listing_report(struct edge_listing *listing, const struct edge_tally *tally)
{
	size_t count = 0;

	listing->tally = tally;
	for (int kind = 0; kind < PROFILE_EDGE_KINDS; kind++) {
		uint64_t total = edge_tally_total(tally, (enum profile_edge_kind)kind);

		/* Only recordings of perf have branch records. */
		if (!profile_edge_is_edge((enum profile_edge_kind)kind) ||
		    (kind == PROFILE_EDGE_RECORD && total == 0))
			continue;
		listing->totals[count++] =
			(struct report_total){.name = kind_names[kind], .count = total};
	}
	return (struct report){
		.totals_of = "edges of kind",
		.totals = listing->totals,
		.total_count = count,
		.table =
			{
				.columns = columns,
				.column_count = sizeof(columns) / sizeof(*columns),
				.row = edge_listing_get_row,
				.context = listing,
				.row_count = edge_tally_row_count(tally),
			},
	};
}
