// SPDX-License-Identifier: GPL-2.0-only
#include "lib/program_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int program_path_find(char path[PROGRAM_PATH_BYTES], const char *name)
{
	const char *search = getenv("PATH");

	if (strchr(name, '/') != NULL) {
		snprintf(path, PROGRAM_PATH_BYTES, "%s", name);
		return access(path, X_OK) == 0 ? 0 : -ENOENT;
	}
	while (search != NULL && *search != '\0') {
		size_t length = strcspn(search, ":");

		snprintf(path, PROGRAM_PATH_BYTES, "%.*s/%s", (int)length, search, name);
		if (access(path, X_OK) == 0)
			return 0;
		search += length + (search[length] == ':');
	}
	return -ENOENT;
}

int program_path_sibling(char path[PROGRAM_PATH_BYTES], const char *name)
{
	ssize_t bytes = readlink("/proc/self/exe", path, PROGRAM_PATH_BYTES - 1);
	char *slash;

	path[bytes < 0 ? 0 : bytes] = '\0';
	slash = strrchr(path, '/');
	if (slash != NULL) {
		snprintf(slash + 1, PROGRAM_PATH_BYTES - (size_t)(slash + 1 - path), "%s", name);
		if (access(path, X_OK) == 0)
			return 0;
	}
	return program_path_find(path, name);
}
