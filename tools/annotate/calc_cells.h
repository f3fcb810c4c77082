/* SPDX-License-Identifier: GPL-2.0-only */
/* Results of the analysis for an instruction or a block, as short texts. */
#ifndef DCPI_CALC_CELLS_H
#define DCPI_CALC_CELLS_H

#include <stdbool.h>

#include "tools/annotate/calc_procedure.h"

#define CALC_CELL_BYTES 48
/* Larger numbers of cycles carry no information. */
#define CALC_CELLS_CPI_MAX 100000
#define CALC_CELLS_CULPRITS 4

/** calc_cells_count() - format a count: "417", "1.23M" */
void calc_cells_count(double count, char cell[CALC_CELL_BYTES]);

/** calc_cells_cycles() - format the cycles of a block: "8", "2.3", "140" */
void calc_cells_cycles(double cycles, char cell[CALC_CELL_BYTES]);

/** struct calc_cells_executions - number of executions, and its interval */
struct calc_cells_executions {
	char value[CALC_CELL_BYTES];
	char low[CALC_CELL_BYTES];
	char high[CALC_CELL_BYTES];
};

/**
 * calc_cells_executions() - format an estimate as a number of executions
 *
 * An exact count is not abbreviated, unless it was scaled by an estimate.
 *
 * Return: false: the estimate is unknown.
 */
bool calc_cells_executions(const struct calc_procedure *procedure,
			   const struct frequency_estimate *estimate,
			   struct calc_cells_executions *cells);

/** calc_cells_times() - return the word after @cells->value: "time" or "times" */
const char *calc_cells_times(const struct calc_cells_executions *cells);

/**
 * calc_cells_cpi() - format the cycles of an instruction per execution: "18.0cy", "(dual issue)", a
 * range if confidence is low, or "-"
 * @sampled: its block has samples; otherwise its cycles are not known
 * @halves:  round to half cycles
 */
void calc_cells_cpi(const struct calc_procedure *procedure, uint32_t insn, bool sampled,
		    bool halves, char cell[CALC_CELL_BYTES]);

/**
 * calc_cells_culprits() - list other instructions for which an instruction waits, or may have
 * waited
 *
 * Return: number of entries in @list.
 */
size_t calc_cells_culprits(const struct procedure_analysis *analysis, uint32_t insn,
			   uint32_t list[CALC_CELLS_CULPRITS]);

#endif
