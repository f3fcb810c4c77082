/* SPDX-License-Identifier: GPL-2.0-only */
/* The sentence that a report of a procedure begins with. */
#ifndef DCPI_CALC_SENTENCE_H
#define DCPI_CALC_SENTENCE_H

#include <stdio.h>

#include "tools/annotate/calc_procedure.h"

/**
 * calc_sentence_print() - state where the procedure's time goes, and why
 * @stream: gets one line
 *
 * If the evidence does not separate the causes, all are named, and a measurement that would
 * separate them. A procedure without a significant stall is compared with its best case.
 */
void calc_sentence_print(FILE *stream, const struct calc_procedure *procedure);

#endif
