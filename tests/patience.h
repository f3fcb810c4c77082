/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long unit tests wait for a condition. No test may depend on how fast the machine is:
 * a test loops until its condition holds, and fails at the deadline.
 */
#ifndef DCPI_TESTS_PATIENCE_H
#define DCPI_TESTS_PATIENCE_H

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/clock.h"

#define PATIENCE_IDLE_S 60

/*
 * Seconds to wait: 60 on an idle machine, multiplied by the runnable threads per CPU on a busy
 * one. As patience in tests/tap.sh.
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

/* The time on clock_monotonic_ns() when patience that begins now has run out. */
static inline uint64_t patience_end_ns(void)
{
	return clock_monotonic_ns() + patience_s() * NS_PER_SECOND;
}

#endif
