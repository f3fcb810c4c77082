// SPDX-License-Identifier: GPL-2.0-only
#include "lib/text_wrap.h"

#include <string.h>

size_t text_width(const char *text)
{
	size_t width = 0;

	for (; *text != '\0'; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

void text_wrap(FILE *stream, const char *text, size_t width, size_t column, size_t indent)
{
	size_t start = column;

	for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
		size_t bytes = strcspn(text, " ");
		size_t length = text_width(text) - text_width(text + bytes);

		if (column > start && column + 1 + length > width) {
			fprintf(stream, "\n%*s", (int)indent, "");
			start = column = indent;
		} else if (column > start) {
			fputc(' ', stream);
			column++;
		}
		fwrite(text, 1, bytes, stream);
		column += length;
		text += bytes;
	}
	fputc('\n', stream);
}
