// SPDX-License-Identifier: GPL-2.0-only
#include "tools/base/text.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes of the UTF-8 character at @text; 0: none, or one that is not printable. */
static size_t character_bytes(const unsigned char *text)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t bytes;
	uint32_t code;

	if (text[0] < 0x80)
		return text[0] >= 0x20 && text[0] != 0x7f;
	bytes = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	code = text[0] & (0xffU >> (bytes + 1));
	for (size_t i = 1; i < bytes; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < smallest[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	/* C1 control characters are commands to some terminals. */
	return code < 0xa0 ? 0 : bytes;
}

char *text_clean(const char *text)
{
	char *copy = strndup(text, TEXT_BYTES_MAX);

	if (copy == NULL)
		return NULL;
	for (unsigned char *p = (unsigned char *)copy; *p != '\0';) {
		size_t bytes = character_bytes(p);

		if (bytes == 0) {
			*p = '?';
			bytes = 1;
		}
		p += bytes;
	}
	return copy;
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

bool text_path_matches(const char *path, const char *pattern)
{
	const char *slash = strrchr(path, '/');

	return fnmatch(pattern, path, 0) == 0 ||
	       (slash != NULL && fnmatch(pattern, slash + 1, 0) == 0);
}
