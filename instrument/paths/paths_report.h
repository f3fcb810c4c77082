/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which paths a program went, as listings: hot and cold ones, dense and sparse ones
 * (Ammons, Ball and Larus, PLDI 1997, section 6.4). A path is hot if it has at least a
 * share, the threshold, of all that was measured; without a metric, of all instructions.
 * A hot path is dense if it has more of the metric for each instruction than the program
 * has on average, else sparse. The same goes for procedures.
 */
#ifndef DCPI_INSTRUMENT_PATHS_REPORT_H
#define DCPI_INSTRUMENT_PATHS_REPORT_H

#include <stdio.h>

#include "instrument/paths/paths_profile.h"

struct image_code;

/** enum paths_rows - a row for each. */
enum paths_rows {
	PATHS_PATHS,	  /* with its blocks; most of the metric first */
	PATHS_PROCEDURES, /* those with most hot paths first */
	PATHS_WAYS,	  /* of the graphs that paths are made of; comma-separated always */
};

/**
 * struct paths_report_options - how
 * @limit: rows at the most; 0: all
 * @threshold: 0 .. 1
 * @csv:   comma-separated, one line of names first
 * @code:  of the image that was rewritten, for source lines; or NULL
 */
struct paths_report_options {
	enum paths_rows rows;
	size_t limit;
	double threshold;
	bool csv;
	struct image_code *code;
};

struct paths_row;

/**
 * paths_report_blocks() - print a path as its blocks, a line each: where, instructions, source
 * @code: of the image, for source lines; or NULL
 */
void paths_report_blocks(FILE *out, const struct paths_row *row, struct image_code *code);

/** paths_report_ways() - print the graphs that paths are made of, comma-separated. */
void paths_report_ways(FILE *out, const struct paths_map *map);

/**
 * paths_report_print() - print it
 * @profile: after paths_profile_end()
 *
 * Return: 1; 0 no path was counted; -ENOMEM; -EBADMSG the map is damaged.
 */
int paths_report_print(FILE *out, const struct paths_map *map, const struct paths_profile *profile,
		       const struct paths_report_options *options, struct error *err);

struct paths_recorded;

/** paths_report_print_recorded() - the same of what a database had, but PATHS_WAYS. */
int paths_report_print_recorded(FILE *out, const struct paths_recorded *recorded,
				const struct paths_report_options *options, struct error *err);

#endif
