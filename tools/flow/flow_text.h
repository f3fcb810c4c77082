/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts in graphviz' language: whatever is in them, they stay texts. */
#ifndef DCPI_FLOW_TEXT_H
#define DCPI_FLOW_TEXT_H

#include <stdio.h>

/** flow_text_table() - print as a part of a table (an "HTML-like" label). */
void flow_text_table(FILE *stream, const char *text);

/** flow_text_quoted() - print as a string in quotes. */
void flow_text_quoted(FILE *stream, const char *text);

#endif
