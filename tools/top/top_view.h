/* SPDX-License-Identifier: GPL-2.0-only */
/* The view that dcpitop shows, on a screen or as text: a level, its sorted rows, and a heading. */
#ifndef DCPI_TOP_VIEW_H
#define DCPI_TOP_VIEW_H

#include "lib/error.h"
#include "tools/base/columns.h"
#include "tools/top/top_code.h"
#include "tools/top/top_counts.h"

#define TOP_FILTER_BYTES 64
#define TOP_HEADING_LINES 3
#define TOP_HEADING_BYTES 512

/** enum top_shown - level of the view */
enum top_shown {
	TOP_IMAGES,
	TOP_PROCEDURES,
	TOP_CODE,
};

/**
 * struct top_view - state of the view; the caller sets @config, @pattern, @event_name and the
 * selection
 * @pattern:    only images whose path, or its last part, matches, as for fnmatch(3); or NULL
 * @event_name: or NULL: the epoch's first
 * @shown:      the level
 * @image:      image of the procedures, or TOP_ALL_IMAGES; @path: its path
 * @address:    of the procedure whose code is shown
 * @of_epoch:   totals are the epoch's, else since the beginning of the totals
 * @filter:     only rows that contain this text, ignoring case
 * @sort:       by level, the index of a column
 * @order:      of the rows; private
 * @table:      of the rows: struct top_row, or struct top_line for code
 * @problem:    reason why code cannot be shown, or ""
 */
struct top_view {
	struct top_config config;
	const char *pattern;
	const char *event_name;
	char event_chosen[64]; /* target of @event_name after the user has switched events */
	enum top_shown shown;
	int64_t image;
	char *path;
	uint64_t address;
	bool from_all; /* the code was chosen from a list of all images */
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

/** top_view_create() - @view: set by the user, else zero. Return: 0 or -ENOMEM */
int top_view_create(struct top_view *view, struct error *err);

void top_view_deinit(struct top_view *view);

/**
 * top_view_update() - read the changes, and make the rows
 *
 * Return: 0; as top_counts_refresh(); -EINVAL: the epoch has no event @event_name.
 */
int top_view_update(struct top_view *view, struct error *err);

/** top_view_arrange() - remake the rows from the data already read. Return: 0 or -ENOMEM */
int top_view_arrange(struct top_view *view);

/** top_view_sort_by() - sort by the column of that name. Return: 0 or -EINVAL */
int top_view_sort_by(struct top_view *view, const char *name, struct error *err);

/** top_view_sort_next() - sort by the next column */
void top_view_sort_next(struct top_view *view);

/** top_view_event_next() - show the next event */
void top_view_event_next(struct top_view *view);

/**
 * top_view_show() - go to a level
 * @row: of the level above, whose procedures or code are shown; NULL: procedures of all images
 *
 * Return: 0; -ENOENT: @row has no code; -ENOMEM.
 */
int top_view_show(struct top_view *view, enum top_shown shown, const struct top_row *row);

/** top_view_back() - go to the level above */
void top_view_back(struct top_view *view);

/** top_view_row() - return a row of images or procedures */
const struct top_row *top_view_row(const struct top_view *view, size_t row);

/** top_view_share() - return a row's share, of the last interval if there is one, 0 .. 1 */
double top_view_share(const struct top_view *view, size_t row);

/** top_view_heading() - make line 0 .. TOP_HEADING_LINES - 1 of the heading */
void top_view_heading(const struct top_view *view, unsigned int line, char text[TOP_HEADING_BYTES]);

#endif
