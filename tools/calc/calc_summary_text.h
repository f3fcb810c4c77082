/* SPDX-License-Identifier: GPL-2.0-only */
/* Describes the stall that costs most in a few sentences. */
#ifndef DCPI_CALC_SUMMARY_TEXT_H
#define DCPI_CALC_SUMMARY_TEXT_H

#include <stdio.h>

#include "tools/calc/calc_procedure.h"

/**
 * calc_summary_text_cost() - return the samples that an instruction's dynamic stalls took, in all
 * executions
 *
 * Return: 0 if no stall is long enough to be reported.
 */
double calc_summary_text_cost(const struct procedure_analysis *analysis, uint32_t insn);

/**
 * calc_summary_text_find() - find the instruction with the worst stall. Return: UINT32_MAX if there
 * is none
 */
uint32_t calc_summary_text_find(const struct procedure_analysis *analysis);

/**
 * calc_summary_text_print() - describe the worst stall, or report that there is none
 *
 * Also reports the longest static stall if it costs more, and a hot block that is faster than its
 * best case.
 */
void calc_summary_text_print(FILE *stream, const struct calc_procedure *procedure);

#endif
