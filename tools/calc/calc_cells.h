/* SPDX-License-Identifier: GPL-2.0-only */
/* What the analysis says of an instruction or a block, as short texts. */
#ifndef DCPI_CALC_CELLS_H
#define DCPI_CALC_CELLS_H

#include <stdbool.h>

#include "tools/calc/calc_procedure.h"

#define CALC_CELL_BYTES 48
/* More cycles are as good as any number. */
#define CALC_CELLS_CPI_MAX 100000
#define CALC_CELLS_CULPRITS 4

/** calc_cells_count() - "417", "1.23M". */
void calc_cells_count(double count, char cell[CALC_CELL_BYTES]);

/** calc_cells_cycles() - of a block: "8", "2.3", "140". */
void calc_cells_cycles(double cycles, char cell[CALC_CELL_BYTES]);

/** struct calc_cells_executions - how often something ran, and between what. */
struct calc_cells_executions {
	char value[CALC_CELL_BYTES];
	char low[CALC_CELL_BYTES];
	char high[CALC_CELL_BYTES];
};

/**
 * calc_cells_executions() - an estimate as counts of executions; a count that is exact, and
 * not scaled by what was estimated, is not shortened
 *
 * Return: false: nothing is known.
 */
bool calc_cells_executions(const struct calc_procedure *procedure,
			   const struct frequency_estimate *estimate,
			   struct calc_cells_executions *cells);

/** calc_cells_times() - what belongs behind @cells->value: "time" or "times". */
const char *calc_cells_times(const struct calc_cells_executions *cells);

/**
 * calc_cells_cpi() - cycles of an execution of an instruction: "18.0cy", "(dual issue)", a
 * range where confidence is low, or "-"
 * @sampled: its block has samples: else its cycles are not known
 * @halves:  rounded to half cycles
 */
void calc_cells_cpi(const struct calc_procedure *procedure, uint32_t insn, bool sampled,
		    bool halves, char cell[CALC_CELL_BYTES]);

/**
 * calc_cells_culprits() - other instructions that an instruction waits for, or may have
 *
 * Return: how many there are in @list.
 */
size_t calc_cells_culprits(const struct procedure_analysis *analysis, uint32_t insn,
			   uint32_t list[CALC_CELLS_CULPRITS]);

#endif
