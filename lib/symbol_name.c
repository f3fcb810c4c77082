// SPDX-License-Identifier: GPL-2.0-only
#include "lib/symbol_name.h"

#include <stddef.h>
#include <string.h>

/*
 * Number of bytes compared when choosing a name: whole names of a hostile file may be slow to
 * compare.
 */
#define COMPARED_BYTES 256

bool symbol_name_is_noise(const char *name)
{
	if (name[0] == '\0' || (name[0] == '.' && name[1] == 'L') ||
	    strncmp(name, ".annobin_", 9) == 0)
		return true;
	return name[0] == '$' && name[1] != '\0' && strchr("adtx", name[1]) != NULL &&
	       (name[2] == '\0' || name[2] == '.');
}

static size_t underscores(const char *name)
{
	size_t count = 0;

	while (count < COMPARED_BYTES && name[count] == '_')
		count++;
	return count;
}

/* Return true for names made by a compiler: "f.part.0", "f.llvm.123". */
static bool is_internal(const char *name)
{
	static const char *const marks[] = {".localalias", ".lto_priv.", ".constprop.", ".isra.",
					    ".part.",	   ".cold",	 ".llvm."};
	const char *dot = memchr(name, '.', strnlen(name, COMPARED_BYTES));

	for (; dot != NULL; dot = strchr(dot + 1, '.')) {
		for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
			if (strncmp(dot, marks[i], strlen(marks[i])) == 0)
				return true;
		}
		if (dot - name >= COMPARED_BYTES)
			break;
	}
	return false;
}

int symbol_name_prefer(const char *a, const char *b)
{
	size_t underscores_a = underscores(a), underscores_b = underscores(b);
	bool internal_a = is_internal(a), internal_b = is_internal(b);
	size_t length_a, length_b;

	if (internal_a != internal_b)
		return internal_a ? 1 : -1;
	if (underscores_a != underscores_b)
		return underscores_a < underscores_b ? -1 : 1;
	length_a = strnlen(a, COMPARED_BYTES);
	length_b = strnlen(b, COMPARED_BYTES);
	if (length_a != length_b)
		return length_a < length_b ? -1 : 1;
	return strncmp(a, b, COMPARED_BYTES);
}
