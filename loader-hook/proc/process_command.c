// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/proc/process_command.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/cleanup.h"

void process_command_read(uint32_t pid, uint32_t tid, char command[PROCESS_COMMAND_BYTES])
{
	_cleanup_close_ int fd = -1;
	char path[64];
	ssize_t n;

	command[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, command, PROCESS_COMMAND_BYTES - 1);
	if (n < 0)
		n = 0;
	/* A name may contain newlines; only the last one is added by the kernel. */
	if (n > 0 && command[n - 1] == '\n')
		n--;
	command[n] = '\0';
}
