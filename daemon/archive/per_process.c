// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/archive/per_process.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#define BLANKS " \t"

bool per_process_match(const char *list, const char *path)
{
	char pattern[4096];

	if (list == NULL || strcmp(list, "none") == 0)
		return false;
	if (strcmp(list, "all") == 0)
		return true;
	for (list += strspn(list, BLANKS); *list != '\0'; list += strspn(list, BLANKS)) {
		size_t length = strcspn(list, BLANKS);

		if (length < sizeof(pattern)) {
			memcpy(pattern, list, length);
			pattern[length] = '\0';
			if (fnmatch(pattern, path, 0) == 0)
				return true;
		}
		list += length;
	}
	return false;
}
