/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints a procedure's control-flow graph in the DOT language, with the results of the analysis:
 * frequencies of blocks and edges as numbers and widths of lines, costs of blocks as numbers and
 * colours, and the stall reasons of instructions.
 *
 * Edges that leave the picture end in separate nodes: returns, calls that do not return, jumps to
 * unknown targets, and edges to blocks that were left out. A common node for all edges of a kind
 * would dominate the layout.
 */
#ifndef DCPI_FLOW_DOT_H
#define DCPI_FLOW_DOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tools/annotate/calc_procedure.h"

/** enum flow_code - selects the instructions shown in a block */
enum flow_code {
	FLOW_CODE_AUTO, /* all, if there are few in the picture; else the costly ones */
	FLOW_CODE_ALL,
	FLOW_CODE_NONE,
};

/**
 * struct flow_options - options of a drawing
 * @code:   selects instructions
 * @blocks: only this many, the ones with most samples; 0: all
 * @share:  only blocks with at least this share of the procedure's samples, 0 .. 1
 * @time:   name of the event that samples time
 */
struct flow_options {
	enum flow_code code;
	size_t blocks;
	double share;
	const char *time;
};

/** flow_dot_print() - print a graph. Return: 0 or -ENOMEM */
int flow_dot_print(FILE *stream, const struct calc_procedure *procedure,
		   const struct flow_options *options);

#endif
