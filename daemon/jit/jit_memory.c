// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/jit/jit_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "loader-hook/proc/process_maps.h"
#include "loader-hook/proc/process_stat.h"

/* Return true if the process with this id was created before @since_ns. */
static bool is_same_process(uint32_t pid, uint64_t since_ns)
{
	uint64_t suspended_ns = clock_boot_ns() - clock_monotonic_ns();
	uint64_t tick_ns = NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
	struct process_stat stat;

	if (process_stat_read(&stat, pid) < 0)
		return false;
	return stat.start * tick_ns <= since_ns + suspended_ns;
}

/* Adjacent mappings may continue each other. */
static bool is_executable(uint32_t pid, uint64_t start, uint64_t end)
{
	_cleanup_file_ FILE *maps = process_maps_open(pid, NULL);
	_cleanup_free_ char *line = NULL;
	size_t capacity = 0;

	while (maps != NULL && start < end && getline(&line, &capacity, maps) >= 0) {
		struct process_mapping mapping;

		if (!process_maps_take(&mapping, line) || mapping.end <= start)
			continue;
		if (mapping.start > start || mapping.permissions[2] != 'x')
			return false;
		start = mapping.end;
	}
	return start >= end;
}

int jit_memory_read(uint32_t pid, uint64_t since_ns, uint64_t start, void *buffer, size_t bytes)
{
	struct iovec local = {.iov_base = buffer, .iov_len = bytes};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)start, .iov_len = bytes};
	ssize_t got;

	if (!is_executable(pid, start, start + bytes))
		return -EFAULT;
	got = process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0);
	if (got < 0)
		return -errno;
	if (!is_same_process(pid, since_ns))
		return -ESRCH;
	return got == (ssize_t)bytes ? 0 : -EFAULT;
}
