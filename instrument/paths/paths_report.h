/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The paths that a program executed, as listings: hot and cold ones, dense and sparse ones (Ammons,
 * Ball and Larus, PLDI 1997, section 6.4). A path is hot if its share of the metric is at least a
 * threshold; without a metric, its share of the instructions. A hot path is dense if its metric per
 * instruction exceeds the average of the program, otherwise sparse. Procedures are classified in
 * the same manner.
 */
#ifndef DCPI_INSTRUMENT_PATHS_REPORT_H
#define DCPI_INSTRUMENT_PATHS_REPORT_H

#include <stdio.h>

#include "instrument/paths/paths_profile.h"

struct image_code;

/** enum paths_rows - kind of the rows */
enum paths_rows {
	PATHS_PATHS,	  /* paths with their blocks; most of the metric first */
	PATHS_PROCEDURES, /* procedures with most hot paths first */
	PATHS_EDGES,	  /* edges of the path graphs; always comma-separated */
};

/**
 * struct paths_report_options - format of a report
 * @limit: maximum number of rows; 0: all
 * @threshold: 0 .. 1
 * @csv:   comma-separated, after one line of names
 * @code:  of the original image, for source lines; or NULL
 * @print_context: print the procedures of a context, if paths are reported in contexts; else NULL
 * @contexts: passed to @print_context
 */
struct paths_report_options {
	enum paths_rows rows;
	size_t limit;
	double threshold;
	bool csv;
	struct image_code *code;
	void (*print_context)(FILE *out, const void *contexts, uint32_t context);
	const void *contexts;
};

struct paths_row;

/**
 * paths_report_blocks() - print a path as its blocks, a line each: address, instructions, source
 * @code: of the image, for source lines; or NULL
 */
void paths_report_blocks(FILE *out, const struct paths_row *row, struct image_code *code);

/** paths_report_edges() - print the path graphs, comma-separated. */
void paths_report_edges(FILE *out, const struct paths_map *map);

/**
 * paths_report_print() - print a report
 * @profile: after paths_profile_end()
 *
 * Return: 1; 0 no path was counted; -ENOMEM; -EBADMSG the map is damaged.
 */
int paths_report_print(FILE *out, const struct paths_map *map, const struct paths_profile *profile,
		       const struct paths_report_options *options, struct error *err);

struct paths_recorded;

/** paths_report_print_recorded() - print recordings in a database, except PATHS_EDGES. */
int paths_report_print_recorded(FILE *out, const struct paths_recorded *recorded,
				const struct paths_report_options *options, struct error *err);

#endif
