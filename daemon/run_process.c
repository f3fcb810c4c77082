// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/run_process.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "lib/error.h"

int run_process_open(int *ret, unsigned int pid, struct error *err)
{
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);

	if (fd < 0)
		return error_set_errno(err, "cannot profile process %u", pid);
	*ret = fd;
	return 0;
}

char *run_process_label(unsigned int pid)
{
	char name[32], path[32], *label;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	file = fopen(path, "re");
	if (file == NULL || fgets(name, sizeof(name), file) == NULL)
		name[0] = '\0';
	if (file != NULL)
		fclose(file);
	name[strcspn(name, "\n")] = '\0';
	return asprintf(&label, "process %u (%s)", pid, name) < 0 ? NULL : label;
}
