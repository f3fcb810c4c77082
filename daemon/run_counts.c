// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/run_counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

#include "daemon/base/counter_set.h"

#define GROUP "command"

void run_counts_read(struct run_counts *counts, pid_t pid)
{
	char path[32], line[80];
	unsigned int found = 0;
	FILE *file;

	*counts = (struct run_counts){.has_io = false};
	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	file = fopen(path, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		found += sscanf(line, "syscr: %" SCNu64, &counts->reads) == 1;
		found += sscanf(line, "syscw: %" SCNu64, &counts->writes) == 1;
	}
	counts->has_io = found == 2;
	if (file != NULL)
		fclose(file);
}

static uint64_t time_us(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

void run_counts_put(const struct run_counts *counts, const struct rusage *usage,
		    struct counter_set *to)
{
	if (counts->has_io) {
		counter_set_put(to, GROUP, "reads", counts->reads);
		counter_set_put(to, GROUP, "writes", counts->writes);
	}
	counter_set_put(to, GROUP, "page_faults",
			(uint64_t)usage->ru_minflt + (uint64_t)usage->ru_majflt);
	counter_set_put(to, GROUP, "context_switches",
			(uint64_t)usage->ru_nvcsw + (uint64_t)usage->ru_nivcsw);
	counter_set_put(to, GROUP, "cpu_us", time_us(&usage->ru_utime) + time_us(&usage->ru_stime));
}
