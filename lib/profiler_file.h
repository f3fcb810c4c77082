/* SPDX-License-Identifier: GPL-2.0-only */
/* The files of the profiler's programs, by name: processes that execute them are the profiler's. */
#ifndef DCPI_PROFILER_FILE_H
#define DCPI_PROFILER_FILE_H

#include <stdbool.h>
#include <string.h>

/**
 * profiler_file_is_program() - return true if a path is that of a program that takes samples
 *
 * The kernel's and the database's remarks after a path do not matter: " (deleted)".
 */
static inline bool profiler_file_is_program(const char *path)
{
	static const char *const names[] = {"dcpid", "dcpirun"};
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	size_t bytes = strcspn(name, " ");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (bytes == strlen(names[i]) && memcmp(name, names[i], bytes) == 0)
			return true;
	}
	return false;
}

#endif
