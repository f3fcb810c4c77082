/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints text in the DOT language, with all special characters escaped. */
#ifndef DCPI_FLOW_TEXT_H
#define DCPI_FLOW_TEXT_H

#include <stdio.h>

/** flow_text_table() - print as part of a table (an "HTML-like" label) */
void flow_text_table(FILE *stream, const char *text);

/** flow_text_quoted() - print as a quoted string */
void flow_text_quoted(FILE *stream, const char *text);

#endif
