/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of stats_listing.h share. */
#ifndef DCPI_STATS_PARTS_H
#define DCPI_STATS_PARTS_H

#include "tools/stats/stats_listing.h"

#define STATS_KEY_BYTES 32

struct stats_row {
	const struct stats_listing *listing;
	size_t index; /* in the table */
	const struct variation_row *numbers;
};

struct stats_listing {
	struct stats_listing_config config;
	const struct sample_sets *sets;
	const struct set_table *table;
	struct variation_cell *rest; /* samples in no row: where only some images are asked for */
	struct variation variation;
	struct stats_row *rows;
	size_t row_count;
	size_t small; /* rows with less than config.least */
	struct column *columns;
	size_t column_count;
	char (*keys)[STATS_KEY_BYTES]; /* of columns, one a set */
	bool several_images;
};

/** stats_columns_make() - the columns of a listing that has its rows. Return: 0 or -ENOMEM. */
int stats_columns_make(struct stats_listing *listing);

/** stats_columns_aliases() - of struct columns_table: the other names of a row. */
struct json_object *stats_columns_aliases(const struct column *column, const void *row);

/** stats_columns_usual() - what rows are sorted by unless a column is named. */
const struct column *stats_columns_usual(const struct stats_listing *listing);

/** stats_form_text() - what stands before the columns in text; context: struct stats_listing. */
void stats_form_text(FILE *stream, const void *context);

/** stats_form_caption() - what stands right before the table. */
void stats_form_caption(FILE *stream, const void *context);

/** stats_form_footer() - what stands behind it. */
void stats_form_footer(FILE *stream, const void *context);

/** stats_form_json() - what stands beside the rows in JSON. Return: 0 or -ENOMEM. */
int stats_form_json(struct json_object *object, const void *context);

#endif
