// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/process_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "lib/error.h"

CLEANUP_DEFINE(directory, DIR *, closedir)

int process_list_walk(process_list_fn visit, void *context, struct error *err)
{
	_cleanup_(cleanup_directory) DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (proc == NULL)
		return error_set_errno(err, "cannot open /proc");
	while ((entry = readdir(proc)) != NULL) {
		unsigned long pid;
		char *end;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		errno = 0;
		pid = strtoul(entry->d_name, &end, 10);
		if (*end == '\0' && errno == 0 && pid > 0 && pid <= INT_MAX)
			visit(context, (uint32_t)pid);
	}
	return 0;
}
