// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/proc/process_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/error.h"

CLEANUP_DEFINE(directory, DIR *, closedir)

/*
 * Visit each number that is a name in directory @path. Return: 0; -1: the directory cannot be read.
 */
static int process_list_do_walk(const char *path, process_list_fn visit, void *context)
{
	_cleanup_(cleanup_directory) DIR *directory = opendir(path);
	struct dirent *entry;

	if (directory == NULL)
		return -1;
	while ((entry = readdir(directory)) != NULL) {
		unsigned long id;
		char *end;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		errno = 0;
		id = strtoul(entry->d_name, &end, 10);
		if (*end == '\0' && errno == 0 && id > 0 && id <= INT_MAX)
			visit(context, (uint32_t)id);
	}
	return 0;
}

int process_list_walk(process_list_fn visit, void *context, struct error *err)
{
	return process_list_do_walk("/proc", visit, context) < 0
		       ? error_set_errno(err, "cannot open /proc")
		       : 0;
}

int process_list_threads(uint32_t pid, process_list_fn visit, void *context)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	return process_list_do_walk(path, visit, context) < 0 ? -errno : 0;
}
