/* SPDX-License-Identifier: GPL-2.0-only */
/* Print texts in reports that come from files. */
#ifndef DCPI_INSTRUMENT_REPORT_TEXT_H
#define DCPI_INSTRUMENT_REPORT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/**
 * report_text_name() - print a name, which may have any contents
 * @csv: as a separate field, with quotes doubled
 */
void report_text_name(FILE *out, const char *name, bool csv);

/**
 * report_text_procedure() - print the name of a procedure
 * @csv: print the linker's symbol name; otherwise, for people, the name in the source
 */
void report_text_procedure(FILE *out, const char *name, bool csv);

#endif
