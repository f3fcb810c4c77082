/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A short answer to the question why a procedure takes its time, in JSON: the procedure, its time,
 * the cause, the certainty of these, and the next measurements.
 */
#ifndef DCPI_CALC_WHY_H
#define DCPI_CALC_WHY_H

#include <stdio.h>

#include "tools/annotate/calc_procedure.h"

/** CALC_WHY_BYTES_MAX - length of an answer */
#define CALC_WHY_BYTES_MAX 4096

/**
 * calc_why_print() - print an answer: an object on one line, docs/reports.schema.json
 *
 * Names and texts are shortened as far as the length requires.
 *
 * Return: 0 or -ENOMEM.
 */
int calc_why_print(FILE *stream, const struct calc_procedure *procedure);

#endif
