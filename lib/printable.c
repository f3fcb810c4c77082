// SPDX-License-Identifier: GPL-2.0-only
#include "lib/printable.h"

#include <stdint.h>

size_t printable_bytes(const char *text)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *byte = (const unsigned char *)text;
	size_t bytes;
	uint32_t code;

	if (byte[0] < 0x80)
		return byte[0] >= 0x20 && byte[0] != 0x7f;
	bytes = byte[0] >= 0xf0 ? 4 : byte[0] >= 0xe0 ? 3 : 2;
	if (byte[0] < 0xc2 || byte[0] > 0xf4)
		return 0;
	code = byte[0] & (0xffU >> (bytes + 1));
	for (size_t i = 1; i < bytes; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (byte[i] & 0x3f);
	}
	if (code < smallest[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	/* C1 control characters are commands on some terminals. */
	return code < 0xa0 ? 0 : bytes;
}

void printable_make(char *text)
{
	while (*text != '\0') {
		size_t bytes = printable_bytes(text);

		if (bytes == 0) {
			*text = '?';
			bytes = 1;
		}
		text += bytes;
	}
}
