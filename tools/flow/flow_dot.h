/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A procedure's control-flow graph in the language of graphviz, with what the analysis
 * says of it: how often blocks and edges ran, by numbers and widths of lines, what
 * blocks cost, by numbers and colours, and what their instructions waited for.
 *
 * Ways that lead nowhere in the picture end in a node of their own: returns, calls that
 * do not return, jumps to where is not known, and blocks that were left out. A node for
 * all of a kind would tie everything to it, and the picture would be of that.
 */
#ifndef DCPI_FLOW_DOT_H
#define DCPI_FLOW_DOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tools/calc/calc_procedure.h"

/** enum flow_code - which instructions stand in a block. */
enum flow_code {
	FLOW_CODE_AUTO, /* all, if there are few in the picture; else the costly ones */
	FLOW_CODE_ALL,
	FLOW_CODE_NONE,
};

/**
 * struct flow_options - what to draw
 * @code:   instructions
 * @blocks: only this many, those with most samples; 0: all
 * @share:  only those with at least this share of the procedure's samples, 0 .. 1
 * @time:   name of the event that samples time
 */
struct flow_options {
	enum flow_code code;
	size_t blocks;
	double share;
	const char *time;
};

/** flow_dot_print() - print a graph. Return: 0 or -ENOMEM. */
int flow_dot_print(FILE *stream, const struct calc_procedure *procedure,
		   const struct flow_options *options);

#endif
