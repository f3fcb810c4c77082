// SPDX-License-Identifier: GPL-2.0-only
#include "tools/base/text.h"

#include <stdbool.h>
#include <string.h>

#include "lib/printable.h"

char *text_clean(const char *text)
{
	char *copy = strndup(text, TEXT_BYTES_MAX);

	if (copy != NULL)
		printable_make(copy);
	return copy;
}

const char *text_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

const char *text_skip(const char *text, size_t count)
{
	for (; *text != '\0'; text++) {
		if ((*text & 0xc0) != 0x80 && count-- == 0)
			break;
	}
	return text;
}

void text_csv(FILE *stream, const char *text, bool first)
{
	if (!first)
		fputc(',', stream);
	if (strpbrk(text, ",\"\r\n") == NULL) {
		fputs(text, stream);
		return;
	}
	fputc('"', stream);
	for (; *text != '\0'; text++) {
		if (*text == '"')
			fputc('"', stream);
		fputc(*text, stream);
	}
	fputc('"', stream);
}
