// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/process_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

int process_stat_read(struct process_stat *stat, uint32_t pid)
{
	_cleanup_close_ int fd = -1;
	char path[64], line[1024];
	const char *rest;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, line, sizeof(line) - 1) : -1;
	if (n < 0)
		return -ESRCH;
	line[n] = '\0';
	/* The name may contain anything, so start after its parenthesis: field 3. */
	rest = strrchr(line, ')');
	if (rest == NULL || sscanf(rest + 1,
				   " %*c %*s %*s %*s %*s %*s %lu %*s %*s %*s %*s %*s %*s %*s %*s "
				   "%*s %*s %lu %*s %llu %llu",
				   &stat->flags, &stat->threads, &stat->start, &stat->bytes) != 4)
		return -ESRCH;
	return 0;
}

bool process_is_traced(uint32_t pid)
{
	static const char field[] = "\nTracerPid:";
	_cleanup_close_ int fd = -1;
	char path[64], text[4096];
	const char *tracer;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (n < 0)
		return true;
	text[n] = '\0';
	tracer = strstr(text, field);
	return tracer == NULL || strtoul(tracer + strlen(field), NULL, 10) != 0;
}
