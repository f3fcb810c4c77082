/* SPDX-License-Identifier: GPL-2.0-only */
/* A procedure's instructions with their cycles, stalls and culprits (DCPI Figure 2). */
#ifndef DCPI_CALC_LISTING_H
#define DCPI_CALC_LISTING_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/annotate/calc_procedure.h"

struct source_text;

/**
 * struct calc_listing_options - format of a listing
 * @color:  the output may contain escape sequences
 * @width:  of the terminal; 0: unlimited
 * @blocks: print this many blocks, the ones with most samples; 0: all
 * @halves: round cycles to half cycles, as in the paper
 * @source: source of source lines; NULL: none are printed
 */
struct calc_listing_options {
	bool color;
	size_t width;
	size_t blocks;
	bool halves;
	struct source_text *source;
};

/** calc_listing_print() - print a procedure's blocks. Return: 0 or -ENOMEM. */
int calc_listing_print(FILE *stream, const struct calc_procedure *procedure,
		       const struct calc_listing_options *options);

#endif
