/* SPDX-License-Identifier: GPL-2.0-only */
/* Describes the stall that costs most in a few sentences. */
#ifndef DCPI_CALC_SUMMARY_TEXT_H
#define DCPI_CALC_SUMMARY_TEXT_H

#include <stdio.h>

#include "tools/annotate/calc_procedure.h"

/**
 * calc_summary_text_event() - return the event whose samples would confirm or exclude a cause
 * @role: out: of the event
 *
 * Return: NULL if there is none.
 */
const char *calc_summary_text_event(enum culprit_cause cause, enum profile_event_role *role);

/**
 * calc_summary_text_print() - describe the worst stall, or report that there is none
 *
 * Also reports the longest static stall if it costs more, and a hot block that is faster than its
 * best case.
 */
void calc_summary_text_print(FILE *stream, const struct calc_procedure *procedure);

#endif
