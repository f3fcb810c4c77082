/* SPDX-License-Identifier: GPL-2.0-only */
/* A procedure as one line of JSON; docs/dcpicalc-json.md describes its format. */
#ifndef DCPI_CALC_JSON_H
#define DCPI_CALC_JSON_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis/culprit/stall_summary.h"
#include "tools/annotate/calc_procedure.h"

struct stack_callers;

/** calc_json_stall_key() - return the key of a static stall: "slotting", "ra_dependency" */
const char *calc_json_stall_key(enum stall_kind kind);

/**
 * struct calc_json_options - what to print of a procedure; zero-initialised: all but evidence and
 * callers
 * @evidence: also print the evidence for the estimates
 * @callers:  of the procedure; NULL: not known
 * @shown:    by block: print it, and its instructions; NULL: all
 * @digits:   significant digits of numbers; 0: nine
 */
struct calc_json_options {
	bool evidence;
	const struct stack_callers *callers;
	const bool *shown;
	unsigned int digits;
};

/**
 * calc_json_procedure() - print a procedure with its blocks and instructions
 *
 * Return: 0 or -ENOMEM.
 */
int calc_json_procedure(FILE *stream, const struct calc_procedure *procedure,
			const struct calc_json_options *options);

/**
 * calc_json_summary() - print a summary of cycles by cause
 * @image, @build_id, @procedure, @model: NULL: the summary covers several
 */
void calc_json_summary(FILE *stream, const char *image, const char *build_id, const char *procedure,
		       const char *model, const struct stall_summary *summary);

#endif
