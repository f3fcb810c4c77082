/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations shared by the files that implement stats_listing.h. */
#ifndef DCPI_STATS_PARTS_H
#define DCPI_STATS_PARTS_H

#include "tools/stats/stats_listing.h"

#define STATS_KEY_BYTES 32

struct stats_row {
	const struct stats_listing *listing;
	size_t index; /* in the table */
	const struct significance_row *numbers;
};

struct stats_listing {
	struct stats_listing_config config;
	const struct sample_sets *sets;
	const struct set_table *table;
	struct significance_cell *rest; /* samples in no row, if only some images are selected */
	struct significance significance;
	struct stats_row *rows;
	size_t row_count;
	size_t small; /* rows with less than config.least */
	struct column *columns;
	size_t column_count;
	char (*keys)[STATS_KEY_BYTES]; /* of columns, one per set */
	bool several_images;
};

/** stats_columns_make() - make the columns of a listing that has its rows. Return: 0 or -ENOMEM */
int stats_columns_make(struct stats_listing *listing);

/** stats_columns_aliases() - callback of struct columns_table: the other names of a row */
struct json_object *stats_columns_aliases(const struct column *column, const void *row);

/** stats_columns_usual() - return the column by which rows are sorted by default */
const struct column *stats_columns_usual(const struct stats_listing *listing);

/** stats_form_text() - print the text before the columns; @context: struct stats_listing */
void stats_form_text(FILE *stream, const void *context);

/** stats_form_notes() - print the sets, and how they were compared */
void stats_form_notes(FILE *stream, const void *context);

/** stats_form_caption() - print the text immediately before the table */
void stats_form_caption(FILE *stream, const void *context);

/** stats_form_footer() - print the text after the table */
void stats_form_footer(FILE *stream, const void *context);

/** stats_form_json() - add the JSON members besides the rows. Return: 0 or -ENOMEM */
int stats_form_json(struct json_object *object, const void *context);

#endif
