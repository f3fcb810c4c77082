// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/archive/per_process.h"

#include <stddef.h>
#include <string.h>

#include "lib/path_match.h"

#define BLANKS " \t"

bool per_process_next(const char **list, char *pattern, size_t bytes)
{
	const char *at = *list + strspn(*list, BLANKS);
	size_t length = strcspn(at, BLANKS);

	while (length >= bytes) {
		at += length;
		at += strspn(at, BLANKS);
		length = strcspn(at, BLANKS);
	}
	memcpy(pattern, at, length);
	pattern[length] = '\0';
	*list = at + length;
	return length > 0;
}

bool per_process_match(const char *list, const char *path)
{
	char pattern[4096];

	if (list == NULL || strcmp(list, "none") == 0)
		return false;
	if (strcmp(list, "all") == 0)
		return true;
	while (per_process_next(&list, pattern, sizeof(pattern))) {
		if (path_match(path, pattern))
			return true;
	}
	return false;
}
