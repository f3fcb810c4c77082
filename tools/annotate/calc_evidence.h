/* SPDX-License-Identifier: GPL-2.0-only */
/* The evidence that the frequencies of a procedure are estimated from. */
#ifndef DCPI_CALC_EVIDENCE_H
#define DCPI_CALC_EVIDENCE_H

#include <stdio.h>

#include "tools/annotate/calc_procedure.h"

struct json_stream;

/** calc_evidence_print() - print the evidence as text. Return: 0 or -ENOMEM. */
int calc_evidence_print(FILE *stream, const struct calc_procedure *procedure);

/** calc_evidence_counts_json() - write the numbers of observations, as members of an object */
void calc_evidence_counts_json(struct json_stream *json, const struct calc_procedure *procedure);

/** calc_evidence_json() - write it as the member "evidence" of an object. Return: 0 or -ENOMEM. */
int calc_evidence_json(struct json_stream *json, const struct calc_procedure *procedure);

#endif
