// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void calc_cells_cycles(double cycles, char cell[CALC_CELL_BYTES])
{
	bool whole = cycles >= 100 || fabs(cycles - nearbyint(cycles)) < 0.05;

	snprintf(cell, CALC_CELL_BYTES, whole ? "%.0f" : "%.1f", cycles);
}

void calc_cells_count(double count, char cell[CALC_CELL_BYTES])
{
	static const char units[] = "kMGTPE";
	unsigned int unit = 0;

	if (!(count >= 9999.5)) {
		snprintf(cell, CALC_CELL_BYTES, "%.0f", count);
		return;
	}
	count /= 1000;
	while (count >= 999.5 && units[unit + 1] != '\0') {
		count /= 1000;
		unit++;
	}
	snprintf(cell, CALC_CELL_BYTES, "%.*f%c",
		 count < 9.995	 ? 2
		 : count < 99.95 ? 1
				 : 0,
		 count, units[unit]);
}

bool calc_cells_executions(const struct calc_procedure *procedure,
			   const struct frequency_estimate *estimate,
			   struct calc_cells_executions *cells)
{
	double low, high, executions = calc_procedure_executions(procedure, estimate, &low, &high);

	if (isnan(executions))
		return false;
	if (estimate->origin == FREQUENCY_EXACT && estimate->low == estimate->high)
		snprintf(cells->value, CALC_CELL_BYTES, "%.0f", executions);
	else
		calc_cells_count(executions, cells->value);
	calc_cells_count(low, cells->low);
	calc_cells_count(high, cells->high);
	return true;
}

const char *calc_cells_times(const struct calc_cells_executions *cells)
{
	return strcmp(cells->value, "1") == 0 ? "time" : "times";
}

void calc_cells_cpi(const struct calc_procedure *procedure, uint32_t insn, bool sampled,
		    bool halves, char cell[CALC_CELL_BYTES])
{
	const struct procedure_analysis *analysis = procedure->analysis;
	const struct instruction_cpi *place = &analysis->culprits.insns[insn];
	double cpi = halves ? nearbyint(2 * place->cpi) / 2 : place->cpi;
	uint32_t block = analysis->cfg->block_of[insn];
	bool is_range = analysis->frequency.blocks[block].confidence == FREQUENCY_LOW;

	if (isnan(cpi) || !sampled)
		snprintf(cell, CALC_CELL_BYTES, "-");
	else if (analysis->model->in_order && cpi < 0.05 &&
		 analysis->schedule.insns[insn].issues_with_previous)
		snprintf(cell, CALC_CELL_BYTES, "(dual issue)");
	else if (is_range && !(place->high < CALC_CELLS_CPI_MAX))
		snprintf(cell, CALC_CELL_BYTES, ">%.1fcy", place->low);
	else if (is_range && place->high - place->low >= 0.1)
		snprintf(cell, CALC_CELL_BYTES, "%.1f-%.1fcy", place->low, place->high);
	else
		snprintf(cell, CALC_CELL_BYTES, "%.1fcy", cpi);
}

/* Add an instruction to a list unless it is already there. */
static size_t add_culprit(uint32_t list[CALC_CELLS_CULPRITS], size_t count, uint32_t from,
			  uint32_t insn)
{
	if (from == UINT32_MAX || from == insn || count == CALC_CELLS_CULPRITS)
		return count;
	for (size_t i = 0; i < count; i++) {
		if (list[i] == from)
			return count;
	}
	list[count] = from;
	return count + 1;
}

size_t calc_cells_culprits(const struct procedure_analysis *analysis, uint32_t insn,
			   uint32_t list[CALC_CELLS_CULPRITS])
{
	const struct instruction_cpi *cpi = &analysis->culprits.insns[insn];
	const struct schedule_insn *schedule = &analysis->schedule.insns[insn];
	size_t count = 0;

	if (isnan(cpi->cpi))
		return 0;
	for (uint32_t i = cpi->first; i < cpi->first + cpi->count; i++)
		count = add_culprit(list, count, analysis->culprits.list[i].from, insn);
	for (uint32_t i = 0; i < schedule->stall_count; i++) {
		if (schedule->stalls[i].kind != STALL_SLOTTING)
			count = add_culprit(list, count, schedule->stalls[i].from, insn);
	}
	return count;
}
