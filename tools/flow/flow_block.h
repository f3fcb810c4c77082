/* SPDX-License-Identifier: GPL-2.0-only */
/* A block of a flow graph as graphviz' table: what it cost, and its instructions. */
#ifndef DCPI_FLOW_BLOCK_H
#define DCPI_FLOW_BLOCK_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/calc/calc_procedure.h"

/* Colours by share of a procedure's samples, from "none" to "most". */
#define FLOW_HEATS 6

/**
 * struct flow_heat - a colour
 * @least: from this share on, 0 .. 1
 * @color: of a block, light enough for black letters
 */
struct flow_heat {
	double least;
	const char *color;
};

extern const struct flow_heat flow_heats[FLOW_HEATS];

/** flow_block_color() - the colour of a block. */
const char *flow_block_color(const struct calc_procedure *procedure, uint32_t block);

/**
 * flow_block_print() - print a block's table
 * @all:  all instructions; else the costly ones
 * @none: no instruction
 *
 * Return: the causes whose letters are in it, a bit for each (enum culprit_cause).
 */
uint32_t flow_block_print(FILE *stream, const struct calc_procedure *procedure, uint32_t number,
			  bool all, bool none);

#endif
