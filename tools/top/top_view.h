/* SPDX-License-Identifier: GPL-2.0-only */
/* What dcpitop shows, on a screen or in a log: a level, its rows in order, and a heading. */
#ifndef DCPI_TOP_VIEW_H
#define DCPI_TOP_VIEW_H

#include "lib/error.h"
#include "tools/base/columns.h"
#include "tools/top/top_code.h"
#include "tools/top/top_counts.h"

#define TOP_FILTER_BYTES 64
#define TOP_HEADING_LINES 3
#define TOP_HEADING_BYTES 512

/** enum top_shown - the level. */
enum top_shown {
	TOP_IMAGES,
	TOP_PROCEDURES,
	TOP_CODE,
};

/**
 * struct top_view - @config, @pattern, @event_name and what is chosen are the user's to set
 * @pattern:    only images whose path, or its last part, matches, as for fnmatch(3); or NULL
 * @event_name: or NULL: the epoch's first
 * @shown:      the level
 * @image:      whose procedures, or TOP_ALL_IMAGES; its path is @path
 * @address:    of the procedure whose code is shown
 * @of_epoch:   totals are the epoch's, else since the beginning
 * @filter:     only rows that contain this, whatever the case
 * @sort:       by level, the index of a column
 * @order:      of the rows; private
 * @table:      of the rows: struct top_row, or struct top_line of code
 * @problem:    why code cannot be shown, or ""
 */
struct top_view {
	struct top_config config;
	const char *pattern;
	const char *event_name;
	char event_chosen[64]; /* what @event_name points to, once events were stepped through */
	enum top_shown shown;
	int64_t image;
	char *path;
	uint64_t address;
	bool from_all; /* code of a row of all images */
	bool of_epoch;
	char filter[TOP_FILTER_BYTES];
	size_t sort[3];
	size_t event;
	struct top_counts *counts;
	struct top_rows rows;
	struct top_code code;
	size_t *order;
	size_t order_capacity;
	struct columns_table table;
	struct error problem;
};

/** top_view_create() - @view with what the user sets, else zero. Return: 0 or -ENOMEM. */
int top_view_create(struct top_view *view, struct error *err);

void top_view_deinit(struct top_view *view);

/**
 * top_view_update() - read what has changed, and make the rows
 *
 * Return: 0; as of top_counts_refresh(); -EINVAL the epoch has no event @event_name.
 */
int top_view_update(struct top_view *view, struct error *err);

/** top_view_arrange() - make the rows anew, of what was read. Return: 0 or -ENOMEM. */
int top_view_arrange(struct top_view *view);

/** top_view_sort_by() - sort by a column of that name. Return: 0 or -EINVAL. */
int top_view_sort_by(struct top_view *view, const char *name, struct error *err);

/** top_view_sort_next() - sort by the next column. */
void top_view_sort_next(struct top_view *view);

/** top_view_event_next() - show the next event. */
void top_view_event_next(struct top_view *view);

/**
 * top_view_show() - go to a level
 * @row: of the level above, for the procedures or the code of one; NULL: of all images
 *
 * Return: 0; -ENOENT @row has no code; -ENOMEM.
 */
int top_view_show(struct top_view *view, enum top_shown shown, const struct top_row *row);

/** top_view_back() - to the level above. */
void top_view_back(struct top_view *view);

/** top_view_row() - a row, of images and procedures. */
const struct top_row *top_view_row(const struct top_view *view, size_t row);

/** top_view_share() - a row's share, of the last interval if there is one, 0 .. 1. */
double top_view_share(const struct top_view *view, size_t row);

/** top_view_heading() - line 0 .. TOP_HEADING_LINES - 1 of what stands above. */
void top_view_heading(const struct top_view *view, unsigned int line, char text[TOP_HEADING_BYTES]);

#endif
