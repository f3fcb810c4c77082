// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/proc/process_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"

/* Read the first @size - 1 bytes of /proc/PID/NAME as a string. Return: 0; -errno */
static int process_file_read(uint32_t pid, const char *name, char *text, size_t size)
{
	_cleanup_close_ int fd = -1;
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, size - 1) : -1;
	if (n < 0)
		return -errno;
	text[n] = '\0';
	return 0;
}

int process_stat_read(struct process_stat *stat, uint32_t pid)
{
	char line[1024];
	const char *rest;

	if (process_file_read(pid, "stat", line, sizeof(line)) < 0)
		return -ESRCH;
	/*
	 * The name may contain any characters, so parse from its closing parenthesis on: field 3.
	 */
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
	char text[4096];
	const char *tracer;

	if (process_file_read(pid, "status", text, sizeof(text)) < 0)
		return true;
	tracer = strstr(text, field);
	return tracer == NULL || strtoul(tracer + strlen(field), NULL, 10) != 0;
}
