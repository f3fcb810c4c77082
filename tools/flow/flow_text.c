// SPDX-License-Identifier: GPL-2.0-only
#include "tools/flow/flow_text.h"

static const char *entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	}
	return NULL;
}

/* Graphviz interprets entities in both kinds of text, and backslashes in some attributes. */
static void flow_text_put(FILE *stream, const char *text, const char *backslash)
{
	for (; *text != '\0'; text++) {
		const char *name = entity(*text);

		if (name != NULL)
			fputs(name, stream);
		else if (*text == '\\')
			fputs(backslash, stream);
		else
			fputc(*text, stream);
	}
}

void flow_text_table(FILE *stream, const char *text)
{
	flow_text_put(stream, text, "&#92;");
}

void flow_text_quoted(FILE *stream, const char *text)
{
	fputc('"', stream);
	flow_text_put(stream, text, "\\\\");
	fputc('"', stream);
}
