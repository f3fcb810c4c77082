/* SPDX-License-Identifier: GPL-2.0-only */
/* The stall that costs most, in a few sentences. */
#ifndef DCPI_CALC_WORST_H
#define DCPI_CALC_WORST_H

#include <stdio.h>

#include "tools/calc/calc_procedure.h"

/**
 * calc_worst_cost() - samples that an instruction's dynamic stalls took, in all executions
 *
 * Return: 0 if there is none that is worth a sentence.
 */
double calc_worst_cost(const struct procedure_analysis *analysis, uint32_t insn);

/** calc_worst_find() - the instruction. Return: UINT32_MAX if no stall stands out. */
uint32_t calc_worst_find(const struct procedure_analysis *analysis);

/**
 * calc_worst_print() - explain it, or say that there is none; and what the code alone makes wait,
 * if that takes longer, and where the best case is none
 */
void calc_worst_print(FILE *stream, const struct calc_procedure *procedure);

#endif
