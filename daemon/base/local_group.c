// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/base/local_group.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

#define GROUP_FILE "/etc/group"

/* Return: the id of a line "name:password:id:members" if the name matches; (gid_t)-1. */
static gid_t line_take(char *line, const char *name)
{
	char *end, *id, *rest = line;
	unsigned long value;

	if (strcmp(strsep(&rest, ":"), name) != 0 || strsep(&rest, ":") == NULL)
		return (gid_t)-1;
	id = strsep(&rest, ":");
	if (id == NULL || *id < '0' || *id > '9')
		return (gid_t)-1;
	errno = 0;
	value = strtoul(id, &end, 10);
	return errno == 0 && *end == '\0' && value < UINT32_MAX ? (gid_t)value : (gid_t)-1;
}

gid_t local_group_find(const char *name)
{
	_cleanup_free_ char *line = NULL;
	_cleanup_file_ FILE *file = fopen(GROUP_FILE, "re");
	gid_t found = (gid_t)-1;
	size_t room = 0;

	if (file == NULL)
		return found;
	while (found == (gid_t)-1 && getline(&line, &room, file) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		found = line_take(line, name);
	}
	return found;
}
