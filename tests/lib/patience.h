/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Timeouts of unit tests. No test may depend on the speed of the machine: a test loops until its
 * condition holds, and fails at the deadline.
 */
#ifndef DCPI_TESTS_PATIENCE_H
#define DCPI_TESTS_PATIENCE_H

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/clock.h"

#define PATIENCE_IDLE_S 60

/*
 * Return the seconds to wait: 60 on an idle machine, multiplied by the number of runnable threads
 * per CPU on a busy one. Same rule as patience in tests/lib/tap.sh.
 */
static inline unsigned int patience_s(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	FILE *file = fopen("/proc/loadavg", "re");
	unsigned int running = 0;
	double load = 0;

	if (file != NULL) {
		if (fscanf(file, "%lf %*f %*f %u/", &load, &running) != 2)
			load = running = 0;
		fclose(file);
	}
	if (load < running)
		load = running;
	if (cpus < 1)
		cpus = 1;
	return load > (double)cpus ? (unsigned int)(PATIENCE_IDLE_S * load / (double)cpus)
				   : PATIENCE_IDLE_S;
}

/* Return the deadline, on clock_monotonic_ns(), of a wait that begins now. */
static inline uint64_t patience_end_ns(void)
{
	return clock_monotonic_ns() + patience_s() * NS_PER_SECOND;
}

#endif
