/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts of reports that come from files. */
#ifndef DCPI_INSTRUMENT_REPORT_TEXT_H
#define DCPI_INSTRUMENT_REPORT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/**
 * report_text_name() - print a name, which may hold anything
 * @csv: as a field of its own, with quotes doubled
 */
void report_text_name(FILE *out, const char *name, bool csv);

/**
 * report_text_procedure() - likewise the name of a procedure
 * @csv: as linkers have it, which is one name only; for people, as the source does
 */
void report_text_procedure(FILE *out, const char *name, bool csv);

#endif
