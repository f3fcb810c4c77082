/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints a block of a flow graph as a Graphviz table: its cost and its instructions. */
#ifndef DCPI_FLOW_BLOCK_H
#define DCPI_FLOW_BLOCK_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/annotate/calc_procedure.h"

/* Number of colours, for increasing shares of a procedure's samples. */
#define FLOW_HEATS 6

/**
 * struct flow_heat - a colour
 * @least: minimum share, 0 .. 1
 * @color: of a block, light enough for black letters
 */
struct flow_heat {
	double least;
	const char *color;
};

extern const struct flow_heat flow_heats[FLOW_HEATS];

/** flow_block_color() - return the colour of a block */
const char *flow_block_color(const struct calc_procedure *procedure, uint32_t block);

/**
 * flow_block_print() - print a block's table
 * @all:  show all instructions; else the costly ones
 * @none: show no instructions
 *
 * Return: a bit for each cause whose letter was printed (enum culprit_cause).
 */
uint32_t flow_block_print(FILE *stream, const struct calc_procedure *procedure, uint32_t number,
			  bool all, bool none);

#endif
