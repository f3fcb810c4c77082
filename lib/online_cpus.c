// SPDX-License-Identifier: GPL-2.0-only
#include "lib/online_cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define ONLINE_PATH "/sys/devices/system/cpu/online"
/* The check interrupts the CPUs, so it is done rarely. */
#define ASK_NS NS_PER_SECOND

int online_cpus_open(struct online_cpus *cpus, struct error *err)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF);

	cpus->asked_ns = cpus->asked_before_ns = clock_monotonic_ns();
	cpus->fd = open(ONLINE_PATH, O_RDONLY | O_CLOEXEC);
	if (cpus->fd < 0)
		return error_set_errno(err, ERROR_OPEN, ONLINE_PATH);
	if (cpu_list_read(&cpus->list, cpus->fd) < 0) {
		online_cpus_close(cpus);
		return error_set(err, EIO, ERROR_READ, ONLINE_PATH);
	}
	cpus->end = cpu_list_end(&cpus->list);
	if (configured > cpus->end && configured <= CPU_LIST_MAX)
		cpus->end = (uint32_t)configured;
	return 0;
}

void online_cpus_close(struct online_cpus *cpus)
{
	if (cpus->fd >= 0)
		close(cpus->fd);
	cpus->fd = -1;
}

int online_cpus_follow(struct online_cpus *cpus, const struct online_cpus_user *user, void *context)
{
	uint64_t now_ns = clock_monotonic_ns();
	bool ask = now_ns >= cpus->asked_ns + ASK_NS;
	struct cpu_list list;
	uint32_t cpu;
	int changed = 0, r = cpu_list_read(&list, cpus->fd);

	if (r < 0 || (!ask && memcmp(&list, &cpus->list, sizeof(list)) == 0))
		return r;
	for (cpu = 0; cpu < cpus->end; cpu++) {
		bool is = cpu_list_has(&list, cpu), was = online_cpus_has(cpus, cpu);
		bool stands = ask && is && was && user->stands(context, cpu);

		if (is == was && !stands)
			continue;
		changed = 1;
		if (was)
			user->went(context, cpu);
		if (is && user->came(context, cpu) < 0)
			cpu_list_remove(&list, cpu);
	}
	cpus->list = list;
	if (ask) {
		cpus->asked_before_ns = cpus->asked_ns;
		cpus->asked_ns = now_ns;
	}
	return changed;
}
